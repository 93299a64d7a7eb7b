from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from suiteopt.errors import UserError
from suiteopt.export.confirm import confirm
from suiteopt.export.confirmation import Confirmation
from suiteopt.matrix.schema import ShapeScope, Status
from suiteopt.matrix.store import Matrix
from suiteopt.suite import Suite
from tests.suiteopt.builders import CONTROLS, SURVIVED, Entry, tiny_matrix
from tests.suiteopt.export.samples import member, problem, recipe, suite

PROBLEM = "level1/001"
ROWS: list[list[Entry]] = [[1, 0], [0, 1], [1, 1], [0, 0]]
VALUES = {"a": recipe("lattice", width=3), "b": recipe("lattice", width=3)}
FULL = {"shape": {"N": 64}, "scope": "contract", "reduction_ratio": 1.0}


def chosen(matrix: Matrix, **changes: Any) -> Suite:
    members = [replace(member(f"{PROBLEM}:i{i}", VALUES), **changes) for i in (0, 1)]
    return replace(suite(problem(1, *members)), matrix_id=matrix.id)


@pytest.fixture
def matrix(tmp_path: Path) -> Matrix:
    return tiny_matrix(tmp_path / "matrix", {PROBLEM: ROWS})


def confirmed(
    matrix: Matrix, path: Path, rows: list[list[Entry]], made: Suite | None = None, **options: Any
) -> Confirmation:
    return confirm(made or chosen(matrix), matrix, tiny_matrix(path, {PROBLEM: rows}, **options))


def test_everything_is_confirmed(matrix: Matrix, tmp_path: Path) -> None:
    found = confirmed(matrix, tmp_path / "again", ROWS)
    assert found.ok
    (one,) = found.problems
    assert [m.promised for m in one.members] == [2, 2]
    assert [m.confirmed for m in one.members] == [2, 2]
    assert [m.controls_accepted for m in one.members] == [len(CONTROLS)] * 2
    assert (one.detected_promised, one.detected_confirmed) == (3, 3)
    assert [(m.nulls_promised, m.nulls_confirmed) for m in one.members] == [(1, 1)] * 2
    answer = found.to_json()
    assert (answer["promised"], answer["confirmed"], answer["not_confirmed"]) == (4, 4, 0)


def test_where_a_member_was_measured(matrix: Matrix, tmp_path: Path) -> None:
    scopes = {
        f"{PROBLEM}:i0": FULL,
        f"{PROBLEM}:i1": {"shape": {"N": 32}, "scope": "profile", "reduction_ratio": 0.5},
    }
    one, two = confirmed(matrix, tmp_path / "again", ROWS, inputs=scopes).problems[0].members
    assert (one.full, one.scope, one.where) == (True, ShapeScope.CONTRACT, "full")
    assert (two.full, two.reduction_ratio, two.where) == (False, 0.5, "reduction x 0.5")
    varied = {f"{PROBLEM}:i0": {**FULL, "scope": "other"}, f"{PROBLEM}:i1": {"scope": "contract"}}
    one, two = confirmed(matrix, tmp_path / "odd", ROWS, inputs=varied).problems[0].members
    assert (one.where, two.where) == ("varied", "contract scope")


def test_lost_kills_are_named_with_their_error(matrix: Matrix, tmp_path: Path) -> None:
    found = confirmed(matrix, tmp_path / "again", [[0.5e-3, 0], [0, 1], [1, 0.25e-3], [0, 1]])
    assert not found.ok
    one, two = found.problems[0].members
    assert [kill.mutant for m in (one, two) for kill in m.lost] == [
        f"{PROBLEM}:m{i}" for i in (0, 2)
    ]
    assert [kill.critical for m in (one, two) for kill in m.lost] == pytest.approx(
        [0.5e-3, 0.25e-3], rel=1e-3
    )
    assert (two.confirmed, two.gained) == (1, 1)
    # The second mutant is still seen by the other member; the first by nobody.
    detected = found.problems[0].detected_promised, found.problems[0].detected_confirmed
    assert detected == (3, 2)


def test_controls_at_the_suites_tolerance_and_at_the_needed_one(
    matrix: Matrix, tmp_path: Path
) -> None:
    made = chosen(matrix, tolerance=1e-6, comparator="rms")
    made = replace(made, oracle="calibrated")
    errors = {(f"{PROBLEM}:serial", f"{PROBLEM}:i0"): 1e-4}
    rows: list[list[Entry]] = [[5e-4, 0], [0, 1], [1, 1], [0, 0]]
    found = confirmed(matrix, tmp_path / "again", rows, made, control_error=errors)
    assert not found.ok
    one, two = found.problems[0].members
    assert one.controls_rejected == (f"{PROBLEM}:serial",)
    assert (one.controls_accepted, two.controls_accepted) == (2, 3)
    assert one.worst_control == pytest.approx(1e-4, rel=1e-3)
    assert one.needed == 10 * one.worst_control
    assert two.needed == pytest.approx(10 * SURVIVED, rel=1e-3)
    # 5e-4 is above the suite's tolerance and below what the controls ask for here.
    assert (one.promised, one.confirmed, one.confirmed_at_needed) == (2, 2, 1)


def test_what_did_not_run_is_neither_confirmed_nor_lost(matrix: Matrix, tmp_path: Path) -> None:
    found = confirmed(matrix, tmp_path / "again", [[None, 0], [0, 1], [1, Status.CLOSED], [0, 0]])
    one, two = found.problems[0].members
    assert (one.not_run, one.lost) == ((f"{PROBLEM}:m0",), ())
    # It was fatal on the other: this cell itself has not been run, and the suite detects it.
    assert (two.not_run, two.confirmed) == ((f"{PROBLEM}:m2",), 1)
    assert found.ok
    (problem,) = found.problems
    assert (problem.detected_promised, problem.detected_confirmed) == (3, 2)
    nothing = confirmed(matrix, tmp_path / "nothing", [[None, 0], [0, 1], [None, 1], [0, 0]])
    assert not nothing.ok  # a member that nothing was run on


def test_a_promise_that_was_never_run_says_so(tmp_path: Path) -> None:
    first = tiny_matrix(
        tmp_path / "matrix", {PROBLEM: [[Status.CLOSED, 0], [0, 1], [1, 1], [0, 0]]}
    )
    found = confirmed(first, tmp_path / "again", [[0, 0], [0, 1], [1, 1], [0, 0]])
    assert [lost.assumed for lost in found.problems[0].members[0].lost] == [True]
    assert (found.to_json()["not_confirmed"], found.to_json()["never_run"]) == (1, 1)


def test_an_invalid_input_is_no_confirmation(matrix: Matrix, tmp_path: Path) -> None:
    invalid = {f"{PROBLEM}:i0": {"valid": False, "invalid_reason": "the reference overflows"}}
    found = confirmed(matrix, tmp_path / "again", ROWS, inputs=invalid)
    assert not found.ok
    one = found.problems[0].members[0]
    assert (one.invalid, one.confirmed, len(one.not_run)) == ("the reference overflows", 0, 2)


def test_a_duplicate_speaks_for_the_mutant_it_was_merged_into(
    matrix: Matrix, tmp_path: Path
) -> None:
    merged = {f"{PROBLEM}:m0": {"class": "duplicate", "duplicate_of": f"{PROBLEM}:m2"}}
    rows: list[list[Entry]] = [[None, None], [0, 1], [1, 1], [0, 0]]
    found = confirmed(matrix, tmp_path / "again", rows, mutants=merged)
    assert found.ok
    assert [m.confirmed for m in found.problems[0].members] == [2, 2]
    assert found.to_json()["not_run"] == 0


def test_only_the_suites_own_matrix_has_its_promises(matrix: Matrix, tmp_path: Path) -> None:
    other = tiny_matrix(tmp_path / "other", {PROBLEM: [[0, 0]] * 4})
    with pytest.raises(UserError, match="the suite was chosen on the matrix"):
        confirm(chosen(matrix), other, matrix)


def test_a_member_that_is_not_there(matrix: Matrix, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"does not hold the member {PROBLEM}:i1"):
        confirmed(matrix, tmp_path / "narrow", [[1], [0], [1], [0]])
    made = replace(chosen(matrix), problems=(problem(1, member(f"{PROBLEM}:i9", VALUES)),))
    with pytest.raises(UserError, match="has no input level1/001:i9"):
        confirm(made, matrix, matrix)
