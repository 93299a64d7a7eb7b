"""Tolerances raised to what a confirmation says is needed."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from suiteopt.errors import UserError
from suiteopt.export.confirm import confirm
from suiteopt.export.raised import RaisedSuite, raised
from suiteopt.export.replay import check_replay
from suiteopt.export.suite_oracle import suite_oracle
from suiteopt.matrix.denominator import Denominator
from suiteopt.matrix.kill import REFEREE_LIMIT, calibrated_tolerances
from suiteopt.matrix.store import Matrix
from suiteopt.selection.export import to_suite
from suiteopt.selection.select import select
from suiteopt.suite import Suite
from tests.suiteopt.builders import Entry, tiny_matrix
from tests.suiteopt.export.samples import member, problem, recipe, suite

PROBLEM = "level1/001"
INPUTS = tuple(f"{PROBLEM}:i{i}" for i in (0, 1))
# Kills and their size: the controls err by 1e-6, so that 1e-5 is the tolerance in the matrix.
ROWS: list[list[Entry]] = [[1e-4, 0], [0, 1e-2], [1, 1], [0, 0]]
VALUES = {"a": recipe("lattice", width=3), "b": recipe("lattice", width=3)}


def made(path: Path, errors: Mapping[str, float], **options: Any) -> Matrix:
    found = {(f"{PROBLEM}:serial", INPUTS[i]): e for i, e in enumerate(errors.values())}
    return tiny_matrix(path, {PROBLEM: ROWS}, control_error=found, **options)


@pytest.fixture
def matrix(tmp_path: Path) -> Matrix:
    return made(tmp_path / "matrix", {"i0": 1e-6, "i1": 1e-6})


@pytest.fixture
def chosen(matrix: Matrix) -> Suite:
    oracle = suite_oracle(suite(problem(1), oracle="calibrated"))
    tolerances = calibrated_tolerances(matrix, PROBLEM, oracle)
    members = [
        replace(member(name, VALUES), comparator="rms", tolerance=float(tolerances[i]))
        for i, name in enumerate(INPUTS)
    ]
    part = replace(problem(1, *members), mutants=4, detected=3)
    return replace(suite(part, oracle="calibrated"), matrix_id=matrix.id)


def outcome(matrix: Matrix, chosen: Suite, measured: Matrix) -> RaisedSuite:
    return raised(chosen, matrix, confirm(chosen, matrix, measured), "gpu-eval confirm")


def test_equal_needs_change_nothing(matrix: Matrix, chosen: Suite) -> None:
    found = outcome(matrix, chosen, matrix)
    assert found.members == ()
    assert found.suite.problems == chosen.problems
    assert found.suite.command == f"{chosen.command}; gpu-eval confirm"
    assert (found.detected, found.detected_before) == (3, 3)


def test_a_tolerance_rises_to_what_is_needed_and_loses_what_lies_below(
    matrix: Matrix, chosen: Suite, tmp_path: Path
) -> None:
    measured = made(tmp_path / "again", {"i0": 1e-4, "i1": 1e-7})
    before = confirm(chosen, matrix, measured)
    assert before.problems[0].members[0].controls_rejected == (f"{PROBLEM}:serial",)
    found = outcome(matrix, chosen, measured)
    (part,) = found.suite.problems
    (old, kept), (new, same) = chosen.problems[0].members, part.members
    # 10 times the error of the control there; never below what the suite had.
    assert new.tolerance == before.problems[0].members[0].needed
    assert new.tolerance == pytest.approx(1e-3, rel=1e-3)
    assert same.tolerance == kept.tolerance
    assert [(m.input, m.before, m.after) for m in found.members] == [
        (old.input, old.tolerance, new.tolerance)
    ]
    # The first mutant errs by 1e-4.
    assert (found.detected_before, part.detected, part.mutants) == (3, 2, 4)
    after = confirm(found.suite, matrix, measured)
    assert after.total(lambda m: len(m.controls_rejected)) == 0
    assert [m.promised for m in after.problems[0].members] == [1, 2]
    assert raised(found.suite, matrix, after, "again").members == ()


def test_a_raised_suite_is_replayed_at_its_own_tolerances(
    matrix: Matrix, chosen: Suite, tmp_path: Path
) -> None:
    measured = made(tmp_path / "again", {"i0": 1e-4, "i1": 1e-6})
    higher = outcome(matrix, chosen, measured).suite
    # There the control errs as in the confirmation: the suite's first tolerance rejects it.
    before = [str(f.verdict) for f in check_replay(chosen, matrix, measured)]
    after = list(check_replay(higher, matrix, measured))
    assert "failed" in before
    assert [str(f.verdict) for f in after] == ["reproduced", "reproduced"]


def test_a_member_that_would_say_nothing_is_left_out(
    matrix: Matrix, chosen: Suite, tmp_path: Path
) -> None:
    measured = made(tmp_path / "again", {"i0": REFEREE_LIMIT, "i1": 1e-6})
    found = outcome(matrix, chosen, measured)
    assert [m.input for m in found.suite.problems[0].members] == [INPUTS[1]]
    assert found.to_json()["left_out"] == [INPUTS[0]]
    assert found.detected == 2
    assert str(found).startswith(f"0 tolerances raised, 1 members left out ({INPUTS[0]}); ")
    invalid = {INPUTS[1]: {"valid": False, "invalid_reason": "overflow"}}
    measured = made(tmp_path / "invalid", {"i0": 1e-6, "i1": 1e-6}, inputs=invalid)
    found = outcome(matrix, chosen, measured)
    assert [m.input for m in found.suite.problems[0].members] == [INPUTS[0]]


@pytest.mark.parametrize("which", Denominator)
def test_what_counts_is_what_the_suite_counted(matrix: Matrix, which: Denominator) -> None:
    made = to_suite(select(matrix, 2, "calibrated", denominator=which), matrix, "select")
    found = raised(made, matrix, confirm(made, matrix, matrix), "confirm")
    assert found.detected == found.detected_before


def test_a_mutant_has_to_be_killed_as_often_as_the_suite_asks(
    matrix: Matrix, chosen: Suite, tmp_path: Path
) -> None:
    (part,) = chosen.problems
    twice = replace(chosen, budget=2, problems=(replace(part, detected=1),))
    assert outcome(matrix, twice, matrix).detected == 1
    measured = made(tmp_path / "again", {"i0": REFEREE_LIMIT, "i1": 1e-6})
    assert outcome(matrix, twice, measured).detected == 0


def test_mutants_of_locked_rules_count_where_the_suite_counts_them(tmp_path: Path) -> None:
    locked = {f"{PROBLEM}:m0": {"locked": True}}
    matrix = tiny_matrix(tmp_path / "locked", {PROBLEM: ROWS}, mutants=locked)
    for opened in (False, True):
        chosen = to_suite(select(matrix, 2, "calibrated", locked=opened), matrix, "select")
        found = raised(chosen, matrix, confirm(chosen, matrix, matrix), "confirm")
        assert found.detected == found.detected_before == (3 if opened else 2)


@pytest.mark.parametrize("which", Denominator)
def test_an_open_comparator_counts_by_the_default_one(matrix: Matrix, which: Denominator) -> None:
    made = to_suite(select(matrix, 2, "any-comparator", denominator=which), matrix, "select")
    found = raised(made, matrix, confirm(made, matrix, matrix), "confirm")
    assert found.detected == found.detected_before


def test_an_absolute_difference_may_be_large(matrix: Matrix, chosen: Suite, tmp_path: Path) -> None:
    (part,) = chosen.problems
    absolute = tuple(replace(m, comparator="max_abs", tolerance=1e-5) for m in part.members)
    opened = replace(chosen, oracle="any-comparator", problems=(replace(part, members=absolute),))
    measured = made(tmp_path / "again", {"i0": 2.0, "i1": 1e-6})
    found = outcome(matrix, opened, measured)
    assert found.to_json()["left_out"] == []
    assert found.suite.problems[0].members[0].tolerance == pytest.approx(20.0, rel=1e-3)


def test_a_fixed_tolerance_is_not_raised(matrix: Matrix, chosen: Suite) -> None:
    fixed = replace(chosen, oracle="fixed:1e-3")
    with pytest.raises(UserError, match="only tolerances of a calibrated oracle"):
        outcome(matrix, fixed, matrix)


def test_a_suite_of_other_mutants_is_refused(matrix: Matrix, chosen: Suite) -> None:
    (part,) = chosen.problems
    other = replace(chosen, problems=(replace(part, mutants=17),))
    with pytest.raises(UserError, match="counts other mutants"):
        outcome(matrix, other, matrix)
