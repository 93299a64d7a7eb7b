from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from suiteopt.export.finding import Verdict
from suiteopt.export.replay import check_replay
from suiteopt.matrix.schema import Status
from suiteopt.matrix.store import Matrix
from suiteopt.suite import Suite
from tests.suiteopt.builders import tiny_matrix
from tests.suiteopt.export.samples import member, problem, recipe, suite

KILLS = {"level1/001": [[1, 0], [0, 1], [1, 1], [0, 0]], "level1/019": [[1, 0]]}
VALUES = {"a": recipe("lattice", width=3), "b": recipe("lattice", width=3)}


def chosen(matrix: Matrix, **changes: Any) -> Suite:
    members = [member(f"level1/001:i{column}", VALUES) for column in (0, 1)]
    made = suite(problem(1, *members), problem(19, member("level1/019:i0", VALUES)), **changes)
    return replace(made, matrix_id=matrix.id)


@pytest.fixture
def matrix(tmp_path: Path) -> Matrix:
    return tiny_matrix(tmp_path / "matrix", KILLS)


def findings(matrix: Matrix, path: Path, kills: Mapping[str, Any], **options: Any) -> list[str]:
    replay = tiny_matrix(path / "replay", kills, **options)
    return [f"{f.verdict}: {f}" for f in check_replay(chosen(matrix), matrix, replay)]


def test_equal_verdicts_reproduce_every_member(matrix: Matrix, tmp_path: Path) -> None:
    assert findings(matrix, tmp_path, KILLS) == [
        "reproduced: kills: level1/001, level1/001:i0: 4 mutants judged alike",
        "reproduced: kills: level1/001, level1/001:i1: 4 mutants judged alike",
        "reproduced: kills: level1/019, level1/019:i0: 1 mutants judged alike",
    ]


def test_other_errors_with_the_same_verdict_are_the_same(matrix: Matrix, tmp_path: Path) -> None:
    kills = {"level1/001": [[0.5, 1e-5], [1e-6, 2e-3], [Status.CRASH, 9.0], [9e-4, 0]],
             "level1/019": [[1.1e-3, 0]]}  # fmt: skip
    assert all(line.startswith("reproduced") for line in findings(matrix, tmp_path, kills))


def test_differences_are_failures_that_name_the_mutants(matrix: Matrix, tmp_path: Path) -> None:
    kills = {"level1/001": [[0, 0], [1, 1], [1, 1], [0, 0]], "level1/019": [[1, 0]]}
    lines = findings(matrix, tmp_path, kills)
    assert lines[0] == (
        "failed: kills: level1/001, level1/001:i0: 1 mutants are killed in the matrix and not in "
        "the replay, 1 the other way: level1/001:m0, level1/001:m1"
    )
    assert [line.split(":")[0] for line in lines] == ["failed", "reproduced", "reproduced"]


def test_a_closed_cell_that_is_no_kill_promises_nothing(tmp_path: Path) -> None:
    """Its mutant crashed at the contract's shape; whether at another one, a replay may find."""
    rows = [[Status.CRASH, Status.CLOSED], [1, 1], [1, 1], [0, 0]]
    odd = {"level1/001:i1": {"scope": "other"}}
    first = tiny_matrix(tmp_path / "odd", {**KILLS, "level1/001": rows}, inputs=odd)
    for found in (Status.CRASH, 0):
        kills = {**KILLS, "level1/001": [[Status.CRASH, found], *rows[1:]]}
        replay = tiny_matrix(tmp_path / f"replay-{found}", kills, inputs=odd)
        lines = [str(finding) for finding in check_replay(chosen(first), first, replay)]
        assert lines[0].endswith("4 mutants judged alike")
        assert lines[1].endswith("3 mutants judged alike")


def test_what_did_not_run_is_unproved(matrix: Matrix, tmp_path: Path) -> None:
    kills = {"level1/001": [[1, 0], [0, None], [1, 1], [0, 0]]}
    assert findings(matrix, tmp_path, kills) == [
        "reproduced: kills: level1/001, level1/001:i0: 4 mutants judged alike",
        "unproved: kills: level1/001, level1/001:i1: the replay did not run 1 mutants: "
        "level1/001:m1",
        "unproved: kills: level1/019, level1/019:i0: the replay does not hold the problem",
    ]


def test_an_input_that_is_not_there_is_unproved_or_failed(matrix: Matrix, tmp_path: Path) -> None:
    kills = {"level1/001": [[1], [0], [1], [0]], "level1/019": [[1]]}
    lines = findings(matrix, tmp_path, kills)
    assert lines[1] == (
        "unproved: kills: level1/001, level1/001:i1: the replay does not hold this input"
    )
    narrow = tiny_matrix(tmp_path / "narrow", kills)
    found = list(check_replay(chosen(narrow), narrow, matrix))
    assert [f.verdict for f in found] == [Verdict.REPRODUCED, Verdict.FAILED, Verdict.REPRODUCED]
    assert "the suite's matrix has no such input" in found[1].what


def test_a_rejected_control_is_a_failure_of_its_own(matrix: Matrix, tmp_path: Path) -> None:
    errors = {("level1/001:serial", "level1/001:i1"): 0.5}
    lines = findings(matrix, tmp_path, KILLS, control_error=errors)
    assert lines[1:3] == [
        "reproduced: kills: level1/001, level1/001:i1: 4 mutants judged alike",
        "failed: controls: level1/001, level1/001:i1: the replay rejects controls, which are "
        "correct: level1/001:serial",
    ]


def test_the_suites_own_oracle_judges(matrix: Matrix, tmp_path: Path) -> None:
    kills = {"level1/001": [[3e-3, 0], [0, 1], [1, 1], [0, 0]], "level1/019": [[1, 0]]}
    replay = tiny_matrix(tmp_path / "replay", kills)
    for oracle, expected in (("fixed:1e-3", "reproduced"), ("fixed:1e-2", "failed"),
                             ("kernelbench-verified", "reproduced")):  # fmt: skip
        first = next(iter(check_replay(chosen(matrix, oracle=oracle), matrix, replay)))
        assert str(first.verdict) == expected


def test_a_merged_mutant_has_the_verdict_of_the_one_that_ran(
    matrix: Matrix, tmp_path: Path
) -> None:
    kills = {"level1/001": [[None, None], [0, 1], [1, 1], [0, 0]], "level1/019": [[1, 0]]}
    merged = {"level1/001:m0": {"class": "duplicate", "duplicate_of": "level1/001:m2"}}
    lines = findings(matrix, tmp_path, kills, mutants=merged)
    assert lines[0] == "reproduced: kills: level1/001, level1/001:i0: 4 mutants judged alike"
    # There the verdicts of the two differ, so that the merged one's is another than promised.
    assert lines[1] == (
        "failed: kills: level1/001, level1/001:i1: 0 mutants are killed in the matrix and not in "
        "the replay, 1 the other way: level1/001:m0"
    )
