"""The confirmed suite that ships: page, suite and sentences are those of its record."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.confirmed import CLOSED, NAME, RESULTS, controls, members, page
from suiteopt.export.suite_oracle import suite_oracle
from suiteopt.matrix.denominator import denominator_mask
from suiteopt.matrix.one_input import input_table
from suiteopt.matrix.store import Matrix, resolve_matrix
from suiteopt.selection.select import select
from suiteopt.suite import CONTRACT_SHAPE, Suite
from tests.docs.pages import flat

ROOT = Path(__file__).parents[2]
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven")


@pytest.fixture(scope="module")
def matrix() -> Matrix:
    return Matrix.open(resolve_matrix(None))


@pytest.fixture(scope="module")
def found() -> Any:
    return json.loads((RESULTS / f"{NAME}.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def suite(matrix: Matrix) -> Suite:
    return Suite.open(matrix.path / "confirmed-2.json")


def test_the_page_is_its_record(found: Any, matrix: Matrix) -> None:
    assert found["matrix_id"] == matrix.id
    assert page(found, matrix) == (RESULTS / f"{NAME}.md").read_text("utf-8")


def test_totals_are_sums_over_members(found: Any) -> None:
    rows = list(members(found))
    assert len(rows) == found["members"]
    for total, key in (("promised", "promised"), ("confirmed", "confirmed"), ("full", "full"),
                       ("gained", "gained"), ("controls_accepted", "controls_accepted"),
                       ("not_run", "not_run")):  # fmt: skip
        assert sum(row[key] for row in rows) == found[total]
    assert sum(len(row["rejected"]) for row in rows) == found["controls_rejected"]
    assert sum(len(row["lost"]) for row in rows) == found["not_confirmed"]
    for row in rows:
        assert row["confirmed"] + len(row["lost"]) + row["not_run"] == row["promised"]
        # Calibrated: 10 times the worst control; who is rejected needs more than the suite gives.
        assert not row["rejected"] or row["needed"] > 10 * row["tolerance"]


def test_the_suite_has_what_is_needed(found: Any, suite: Suite, matrix: Matrix) -> None:
    assert suite.matrix_id == matrix.id
    rows = {row["input"]: row for row in members(found)}
    shipped = {member.input: member for part in suite.problems for member in part.members}
    assert set(rows) - set(shipped) == set(found["raised"]["left_out"])
    raised = 0
    for name, member in shipped.items():
        row = rows[name]
        varied = row["scope"] == "other"
        assert varied == (member.shape_recipe != CONTRACT_SHAPE)
        # A varied member is run at the shape where the suite's tolerance was measured.
        wanted = row["tolerance"] if varied else max(row["tolerance"], row["needed"])
        assert member.tolerance == wanted
        raised += member.tolerance > row["tolerance"]
    assert raised == found["raised"]["raised"]


def test_problems_with_other_members_are_named(found: Any, matrix: Matrix) -> None:
    now = {row.problem: set(row.selection.members) for row in select(matrix, 2).problems}
    others = [
        problem
        for problem, rows in found["members_of_problems"].items()
        if now[problem] != {row["input"] for row in rows}
    ]
    assert found["other_members"] == others
    chosen = {problem for problem, members_now in now.items() if members_now}
    assert chosen == set(found["members_of_problems"])


def test_what_the_suite_detects(found: Any, suite: Suite, matrix: Matrix) -> None:
    oracle = suite_oracle(suite)
    for part in suite.problems:
        killed = np.zeros(1, dtype=np.bool_)
        for member in part.members:
            own = oracle.at(member.tolerance)
            table = input_table(matrix, part.problem, own, member.input)
            kills = table.kills.toarray()[:, table.inputs.index(member.input)]
            killed = killed | (kills & denominator_mask(matrix, table))
        assert killed.sum() == part.detected, part.problem
    assert sum(part.detected for part in suite.problems) == found["raised"]["detected"]


def test_the_sentences(found: Any, matrix: Matrix) -> None:
    raised = found["raised"]
    own = controls(found, varied=False)
    ran = found["detected_promised"] - found["detected_not_run"]
    share = f"{100 * found['detected_confirmed'] / ran:.1f}%"
    at_own = [row for row in members(found) if row["scope"] != "other"]
    rejecting = sum(bool(row["rejected"]) for row in at_own)
    card = flat(matrix.path / "README.md")
    gpu = flat(ROOT / "docs" / "gpu.md")
    targets = flat(ROOT / "docs" / "targets.md")
    readme = (ROOT / "README.md").read_text("utf-8")
    for text in (card, gpu):
        assert f"{found['promised']:,} promised kills {found['confirmed']:,} are confirmed" in text
        assert f"{found['not_confirmed']} are not" in text
        assert f"{found['not_run']} did not run" in text
        assert f"{found['detected_confirmed']:,}" in text
        assert f"{ran:,}" in text
        assert f"({share})" in text
        assert (
            f"{own.rejected} of {own.all:,} controls are rejected by {rejecting} of the "
            f"{raised['confirmed']} members of the benchmark's own shape"
        ) in text
        assert f"{raised['detected']:,} of {raised['mutants']:,} faults" in text
        assert f"{raised['detected_before']:,} before" in text
    full, odd = found["full"], sum(row["scope"] == "other" for row in members(found))
    assert (
        f"{full} of {found['members']} members at full dimensions, {len(at_own) - full} at full "
        f"reductions, {odd} varied in shape on purpose"
    ) in card
    assert f"{raised['raised']} raised, {len(raised['left_out'])} members left out" in card
    before = json.loads((RESULTS / f"{CLOSED}.json").read_text("utf-8"))
    assert before["matrix_id"] == matrix.id
    own_shape, crashes, launches = before["kills"].values()
    assert (
        f"at the benchmark's own shape {own_shape['confirmed']} of {own_shape['ran']} were kills, "
        f"at other shapes after a crash or timeout {crashes['confirmed']} of {crashes['ran']}, "
        f"after refused launches alone {launches['confirmed']} of {launches['ran']}."
    ) in card
    number = NUMBERS[len(found["other_members"])]
    assert f"names {number} problems of which `select` gives other members now" in card
    assert f"Of {number} problems `select` gives other members now" in gpu
    assert f"of the detected faults that ran {share} are detected there" in readme
    assert f"rejects none of {own.kept:,} controls" in targets
    assert f"rejects {own.rejected} of {own.all:,}, by {rejecting} of {len(at_own)}" in targets
