"""The figures in sentences that people write: README, the default matrix's card, method page."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from suiteopt.matrix.denominator import is_witnessed, shows_in_output
from suiteopt.matrix.schema import Kind, ShapeScope
from suiteopt.matrix.store import Matrix, resolve_matrix
from suiteopt.selection.select import select
from tests.docs.pages import flat

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "experiments" / "results"
README = (ROOT / "README.md").read_text("utf-8")
METHOD = (ROOT / "docs" / "method.md").read_text("utf-8")


def finding(name: str) -> Any:
    return json.loads((RESULTS / f"finding-{name}.json").read_text("utf-8"))["ours"]


@pytest.fixture(scope="module")
def matrix() -> Matrix:
    return Matrix.open(resolve_matrix(None))


@pytest.fixture(scope="module")
def witnessed(matrix: Matrix) -> pd.DataFrame:
    """Mutants that count, and whether an output shows them."""
    rows = matrix.implementations[is_witnessed(matrix.implementations, matrix.meta)]
    return rows.assign(shows=shows_in_output(rows))


@pytest.fixture(scope="module")
def card(matrix: Matrix) -> str:
    return (matrix.path / "README.md").read_text("utf-8")


def test_the_sentence_above_the_first_table(matrix: Matrix, witnessed: pd.DataFrame) -> None:
    kinds = matrix.implementations["kind"].astype(str).value_counts()
    assert (
        f"all {len(matrix.problem_ids)} problems of KernelBench's levels 1 and 2, "
        f"{kinds[str(Kind.SUBSTRATE)]} kernels, {len(witnessed):,} faults witnessed wrong, "
        f"{kinds[str(Kind.CONTROL)]:,} correct kernels;"
    ) in README


def test_the_sentences_below_it(witnessed: pd.DataFrame) -> None:
    missed = finding("miss-rate")["witnessed"]["by_family"]["precision"]["missed_share"]
    assert f"five draws at 1e-2 miss {100 * missed:.1f}%" in README
    hidden = int((~witnessed["shows"]).sum())
    assert f"{hidden:,} of the {len(witnessed):,} never show in an output" in README


def test_the_wild_kernels_that_count(card: str) -> None:
    chosen = finding("wild-kernels")["chosen two, calibrated"]
    wrong, right = chosen["wrong"], chosen["right"]
    at_scope, all_wrong = wrong["at_scope"]["kernels"], wrong["all"]["kernels"]
    assert f"{at_scope} of the {all_wrong} wrong ones were seen to be wrong" in README
    assert f"{all_wrong} of the wild kernels are wrong, {at_scope} of these seen" in card
    assert f"{right['kernels']} are right" in card


def test_what_inputs_and_tolerance_are_worth() -> None:
    found = finding("decomposition")["witnessed"]
    inputs, tolerance = (100 * found[f"{factor}_share"] for factor in ("inputs", "tolerance"))
    assert f"(here {inputs:+.1f} points by inputs, {tolerance:+.1f} by the tolerance)" in README


def test_how_many_inputs_have_full_reductions(matrix: Matrix, card: str) -> None:
    inputs = matrix.inputs
    full = inputs["scope"].astype(str) == str(ShapeScope.CONTRACT)
    problems = inputs["problem"].astype(str)
    counts = Counter(problems[full])
    most = [n for n in counts.values() if n > 8]
    said = f"on {min(most)} to {max(most)} of the 68 inputs of a problem"
    assert said in card
    few = [p for p in matrix.problem_ids if 0 < counts[p] <= 8]
    none = [p for p in matrix.problem_ids if counts[p] == 0]
    assert f"on 8 of problems {by_level(few)} (all own draws" in card
    assert f"on none of {by_level(none)}, where" in card
    invalid = problems[~inputs["valid"]].value_counts()
    assert f"{invalid.sum()} inputs are invalid, {invalid.iloc[0]} of them of problem" in card


def by_level(problems: list[str]) -> str:
    numbers: dict[str, list[int]] = {}
    for problem in problems:
        numbers.setdefault(problem[5], []).append(int(problem[-3:]))
    return " and ".join(f"{listed(some)} of level {level}" for level, some in numbers.items())


def listed(numbers: list[int]) -> str:
    return f"{', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def test_the_right_kernels_that_differ_from_run_to_run(matrix: Matrix, card: str) -> None:
    (sentence,) = re.findall(r"What differs between two runs are .*?\.\s", card)
    kinds = dict(
        zip(
            matrix.implementations["implementation"].astype(str),
            matrix.implementations["kind"].astype(str),
            strict=True,
        )
    )
    for problem in matrix.problem_ids:
        cells = matrix.cells(problem, ["implementation", "disagreed"])
        for name in set(cells.loc[cells["disagreed"] > 0, "implementation"].astype(str)):
            if kinds[name] != str(Kind.MUTANT):
                assert re.search(rf"\b{int(problem[-3:])}\b", sentence), name


def test_what_the_chosen_members_are(matrix: Matrix) -> None:
    members = [name for row in select(matrix, 2).problems for name in row.selection.members]
    shaped = [name for name in members if "@" in name]
    valued = [name for name in shaped if not name.partition(":")[2].startswith("normal@")]
    assert (
        f"Of the {len(members)} members that `select --budget 2` chooses on the default matrix "
        f"{len(shaped)} have another shape, {len(valued)} of these with a value recipe other than "
        "`normal`."
    ) in METHOD


def test_what_the_held_out_objective_is_worth() -> None:
    found = json.loads((RESULTS / "validation.json").read_text("utf-8"))
    duels = found["calibrated"]["objectives"]
    site = duels["site"]
    low, high = (f"{100 * bound:+.1f}" for bound in site["interval"])
    shares = [site["held_out_objective_share"], site["plain_share"]]
    one, two = (f"{100 * share:.1f}%" for share in shares)
    assert f"by site {one} instead of {two} of the faults that it has not seen" in METHOD
    assert f"({100 * site['difference_share']:+.1f} points, interval {low} to {high})" in METHOD
    gains = {name: f"{100 * duel['difference_share']:+.1f}" for name, duel in duels.items()}
    assert (
        f"in random folds {gains['random']}, by rule {gains['rule']}, "
        f"by family {gains['family']}, by substrate {gains['substrate']};"
    ) in METHOD
    assert {duel["verdict"] for duel in duels.values()} == {"better"}


def test_which_held_out_controls_are_rejected(matrix: Matrix) -> None:
    found = json.loads((RESULTS / "validation.json").read_text("utf-8"))["calibrated"]["controls"]
    names = [each["control"] for each in found["rejections"]]
    assert all(each["rejected"] == 1 for each in found["rejections"])
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    assert (
        f"{found['rejected']} of {found['held_out']:,} cells are rejected, one each of {listed}."
    ) in flat(matrix.path / "README.md")
    for each in found["rejections"]:
        table = matrix.implementations_of(each["problem"])
        kinds = table["control_kind"][table["kind"] == str(Kind.CONTROL)].astype(str)
        assert (kinds == each["kind"]).sum() == 1


def test_what_does_not_show_in_an_output(witnessed: pd.DataFrame) -> None:
    hidden = witnessed[~witnessed["shows"]]
    how = hidden["witness_how"].astype(str).value_counts()
    assert f"Of the {len(hidden):,} on the default matrix {how['unwritten']:,} leave" in METHOD
    assert f"{how['out_of_bounds']} write beside the output" in METHOD
    assert f"{how['race']} are races" in METHOD
    assert "a tenth of them on the default matrix" in METHOD
    assert 1 / 10.5 < len(hidden) / len(witnessed) < 1 / 9.5
