"""The confirmed suites that ship: pages, suites and sentences are those of their records."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.confirmed import (
    CLOSED,
    RESULTS,
    controls,
    main,
    members,
    name_of,
    other_members,
    page,
)
from suiteopt.errors import UserError
from suiteopt.export.registry import get_target
from suiteopt.export.suite_oracle import suite_oracle
from suiteopt.matrix.denominator import denominator_mask
from suiteopt.matrix.one_input import input_table
from suiteopt.matrix.store import Matrix, resolve_matrix
from suiteopt.selection.select import select
from suiteopt.suite import CONTRACT_SHAPE, Suite
from tests.docs.pages import flat

ROOT = Path(__file__).parents[2]
TARGETS = (None, "kernelbench-sidecar")
BY_TARGET = pytest.mark.parametrize("target", TARGETS)


@pytest.fixture(scope="module")
def matrix() -> Matrix:
    return Matrix.open(resolve_matrix(None))


def record(target: str | None) -> Any:
    return json.loads((RESULTS / f"{name_of(target)}.json").read_text("utf-8"))


def shipped_suite(matrix: Matrix, target: str | None) -> Suite:
    return Suite.open(matrix.path / f"{name_of(target)}-2.json")


@BY_TARGET
def test_the_page_is_its_record(target: str | None, matrix: Matrix) -> None:
    found = record(target)
    assert (found["matrix_id"], found["target"]) == (matrix.id, target)
    assert page(found, matrix) == (RESULTS / f"{name_of(target)}.md").read_text("utf-8")


@BY_TARGET
def test_totals_are_sums_over_members(target: str | None) -> None:
    found = record(target)
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


@BY_TARGET
def test_the_suite_has_what_is_needed(target: str | None, matrix: Matrix) -> None:
    found, suite = record(target), shipped_suite(matrix, target)
    assert (suite.matrix_id, suite.target) == (matrix.id, target)
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


@BY_TARGET
def test_the_members_are_those_that_are_chosen_now(target: str | None, matrix: Matrix) -> None:
    found = record(target)
    carries = None if target is None else get_target(target).capabilities
    chosen = select(matrix, 2, capabilities=carries, target=target)
    now = {row.problem: set(row.selection.members) for row in chosen.problems}
    measured = found["members_of_problems"]
    assert found["other_members"] == []
    assert {problem: names for problem, names in now.items() if names} == {
        problem: {row["input"] for row in rows} for problem, rows in measured.items()
    }


@BY_TARGET
def test_what_the_suite_detects(target: str | None, matrix: Matrix) -> None:
    found, suite = record(target), shipped_suite(matrix, target)
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


def test_the_sentences(matrix: Matrix) -> None:
    found = record(None)
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
    assert f"of the detected faults that ran {share} are detected there" in readme
    assert f"rejects none of {own.kept:,} controls" in targets
    assert f"rejects {own.rejected} of {own.all:,}, by {rejecting} of {len(at_own)}" in targets


def test_the_sentences_on_the_suite_of_a_target(matrix: Matrix) -> None:
    found = record("kernelbench-sidecar")
    raised, own = found["raised"], controls(found, varied=False)
    left_out = len(raised["left_out"])
    ran = found["detected_promised"] - found["detected_not_run"]
    share = f"{100 * found['detected_confirmed'] / ran:.1f}%"
    rejecting = sum(bool(row["rejected"]) for row in members(found))
    assert controls(found, varied=True).all == 0
    gpu = flat(ROOT / "docs" / "gpu.md")
    for sentence in (
        f"Of {found['members']} members {found['full']} have the benchmark's full dimensions.",
        f"Of {found['promised']:,} promised kills {found['confirmed']:,} are confirmed, "
        f"{found['not_confirmed']} are not, and {found['not_run']:,} did not run.",
        f"Of {found['detected_promised']:,} mutants that are detected {ran:,} ran, and "
        f"{found['detected_confirmed']:,} of these are detected again ({share}).",
        f"{own.rejected} of {own.all:,} controls are rejected by {rejecting} of the "
        f"{found['members']} members. {raised['raised']} tolerances are raised and {left_out} "
        "members left out",
        f"the suite detects {raised['detected']:,} of {raised['mutants']:,} faults at the shapes "
        f"of the matrix, {raised['detected_before']:,} before",
        f"{found['seconds']:.0f} s on one H200",
    ):
        assert sentence in gpu
    targets = flat(ROOT / "docs" / "targets.md")
    assert f"rejects none of {own.kept:,} controls there" in targets
    assert (
        f"{own.rejected} of {own.all:,} as chosen, by {rejecting} of {found['members']}" in targets
    )
    assert f"of which the same is true of {share}" in (ROOT / "README.md").read_text("utf-8")
    assert (
        f"of the {ran:,} detected faults that ran {found['detected_confirmed']:,} are detected "
        f"again ({share}); {raised['raised']} raised, {left_out} members left out."
    ) in flat(matrix.path / "README.md")


def test_members_that_were_not_measured_are_named(matrix: Matrix) -> None:
    suite = shipped_suite(matrix, None)
    first, *rest = suite.problems
    measured = {"problems": [{"problem": part.problem,
                              "members": [{"input": member.input} for member in part.members]}
                             for part in suite.problems]}  # fmt: skip
    assert other_members(measured, suite) == []
    fewer = replace(suite, problems=(replace(first, members=first.members[:1]), *rest[:-1]))
    assert other_members(measured, fewer) == [first.problem, rest[-1].problem]
    found = record(None)
    found["other_members"] = [first.problem]
    assert f"Of 1 problems `suiteopt select` gives other members now, which were not measured " \
        f"again: {first.problem}." in page(found, matrix)  # fmt: skip


def test_a_suite_for_another_target_is_refused(matrix: Matrix, tmp_path: Path) -> None:
    answer = tmp_path / "confirm.json"
    answer.write_text(json.dumps({"matrix_id": matrix.id, "target": "kernelbench-sidecar"}))
    with pytest.raises(UserError, match=r"for kernelbench-sidecar, and .* is for no target"):
        main([str(answer), str(matrix.path / "confirmed-2.json")])
    answer.write_text(json.dumps({"matrix_id": matrix.id}))
    with pytest.raises(UserError, match="is no answer of 'gpu-eval confirm"):
        main([str(answer), str(matrix.path / "confirmed-2.json")])
