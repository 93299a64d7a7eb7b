"""The figures in sentences that people write: in the README, on the default matrix's card."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from suiteopt.matrix.denominator import is_witnessed, shows_in_output
from suiteopt.matrix.schema import Kind, ShapeScope
from suiteopt.matrix.store import Matrix, resolve_matrix
from suiteopt.selection.select import select

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
def card(matrix: Matrix) -> str:
    return (matrix.path / "README.md").read_text("utf-8")


def test_the_sentence_above_the_first_table(matrix: Matrix) -> None:
    rows = matrix.implementations
    kinds = rows["kind"].astype(str).value_counts()
    witnessed = int(is_witnessed(rows, matrix.meta).sum())
    assert (
        f"the {len(matrix.problem_ids)} KernelBench level-1 problems, {kinds[str(Kind.SUBSTRATE)]} "
        f"kernels, {witnessed:,} faults witnessed wrong, {kinds[str(Kind.CONTROL)]:,} correct "
        "kernels;"
    ) in README


def test_the_sentences_below_it(matrix: Matrix) -> None:
    missed = finding("miss-rate")["witnessed"]["by_family"]["precision"]["missed_share"]
    assert f"five draws at 1e-2 miss {100 * missed:.1f}%" in README
    rows = matrix.implementations
    witnessed = is_witnessed(rows, matrix.meta).to_numpy(dtype=bool)
    hidden = int((witnessed & ~shows_in_output(rows)).sum())
    assert f"{hidden:,} of the {int(witnessed.sum()):,} never show in an output" in README


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
    few = sorted(int(p[-3:]) for p, n in counts.items() if n <= 8)
    none = sorted(int(p[-3:]) for p in matrix.problem_ids if counts[p] == 0)
    assert f"on 8 of problems {listed(few)} (all own draws" in card
    assert f"on none of {listed(none)}, where" in card
    invalid = problems[~inputs["valid"]].value_counts()
    assert f"{invalid.sum()} inputs are invalid, {invalid.iloc[0]} of them of problem" in card


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
