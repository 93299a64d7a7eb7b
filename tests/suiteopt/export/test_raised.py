"""Tolerances raised to what a confirmation says is needed."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from suiteopt.audit.checks import suite_check
from suiteopt.audit.score import audit_check
from suiteopt.audit.survivors import survey
from suiteopt.errors import UserError
from suiteopt.exchange.outcomes import outcomes
from suiteopt.export.confirm import confirm
from suiteopt.export.raised import RaisedSuite, raised
from suiteopt.export.replay import check_replay
from suiteopt.export.suite_oracle import suite_oracle
from suiteopt.matrix.denominator import Denominator
from suiteopt.matrix.kill import REFEREE_LIMIT, calibrated_tolerances
from suiteopt.matrix.schema import Status
from suiteopt.matrix.store import Matrix
from suiteopt.selection.export import to_suite
from suiteopt.selection.select import select
from suiteopt.suite import Suite
from tests.command import Command
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
    return replace(suite(part, oracle="calibrated", target=None), matrix_id=matrix.id)


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
    # The one that detects more comes first now.
    (old, kept), (same, new) = chosen.problems[0].members, part.members
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
    assert [m.promised for m in after.problems[0].members] == [2, 1]
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
    (why,) = found.to_json()["left_out"].values()
    assert why == "correct kernels need 1.25 there, beyond 0.125 of the output's scale"
    assert found.detected == 2
    assert f"; {INPUTS[0]} is left out: {why}; at the shapes of its matrix" in str(found)
    invalid = {INPUTS[1]: {"valid": False, "invalid_reason": "overflow"}}
    measured = made(tmp_path / "invalid", {"i0": 1e-6, "i1": 1e-6}, inputs=invalid)
    found = outcome(matrix, chosen, measured)
    assert [m.input for m in found.suite.problems[0].members] == [INPUTS[0]]


def test_a_problem_without_members_is_left_out(
    matrix: Matrix, chosen: Suite, tmp_path: Path
) -> None:
    measured = made(tmp_path / "again", {"i0": REFEREE_LIMIT, "i1": REFEREE_LIMIT})
    found = outcome(matrix, chosen, measured)
    assert (found.suite.problems, found.detected) == ((), 0)


def test_a_varied_member_keeps_the_tolerance_of_the_shape_that_it_is_run_at(
    matrix: Matrix, chosen: Suite, tmp_path: Path
) -> None:
    (part,) = chosen.problems
    one, two = part.members
    odd = replace(
        chosen, problems=(replace(part, members=(replace(one, shape_recipe="tile+1"), two)),)
    )
    scopes = {INPUTS[0]: {"scope": "other"}, INPUTS[1]: {"scope": "contract"}}
    measured = made(tmp_path / "again", {"i0": 1e-4, "i1": 1e-5}, inputs=scopes)
    found = outcome(matrix, odd, measured)
    kept = {member.input: member.tolerance for member in found.suite.problems[0].members}
    assert kept[INPUTS[0]] == one.tolerance
    assert kept[INPUTS[1]] == pytest.approx(1e-4, rel=1e-3)
    assert (found.confirmed, found.kept) == (1, 1)


def test_what_was_not_confirmed_stays(matrix: Matrix, chosen: Suite, tmp_path: Path) -> None:
    measured = made(tmp_path / "again", {"i0": 1e-4, "i1": 1e-6})
    whole = confirm(chosen, matrix, measured)
    none = replace(whole, problems=())
    found = raised(chosen, matrix, none, "gpu-eval confirm --problem other")
    assert found.suite.problems == chosen.problems
    assert (found.confirmed, found.kept) == (0, 2)


@pytest.mark.parametrize("which", [Denominator.WITNESSED, Denominator.VALID])
def test_audits_judge_at_the_raised_tolerances(
    matrix: Matrix, chosen: Suite, tmp_path: Path, which: Denominator
) -> None:
    measured = made(tmp_path / "again", {"i0": 1e-4, "i1": 1e-7})
    higher = outcome(matrix, chosen, measured).suite
    for each, detected in ((chosen, 3), (higher, 2)):
        check = suite_check(matrix, each, "suite")
        found = audit_check(matrix, check, which)
        assert found.tally.detected == detected
        assert len(survey(matrix, check, which).survivors) == 4 - detected
        (kills,) = (o.kills for o in outcomes(matrix, check, which))
        assert int(kills.any(axis=1).sum()) == detected
    # On another matrix its tolerances are worked out anew.
    assert suite_check(measured, higher, "suite").tolerances == {}


def test_a_selection_does_not_take_raised_tolerances_for_its_own(
    suiteopt: Command, matrix: Matrix, chosen: Suite, tmp_path: Path
) -> None:
    higher = outcome(matrix, chosen, made(tmp_path / "again", {"i0": 1e-4, "i1": 1e-7})).suite
    higher.save(tmp_path / "raised.json")
    chosen.save(tmp_path / "chosen.json")
    for option in ("--extend", "--review"):
        where = ("--matrix", matrix.path, "--oracle", "calibrated")
        answer = suiteopt("select", option, tmp_path / "chosen.json", *where)
        assert answer.code == 0, answer.err
        answer = suiteopt("select", option, tmp_path / "raised.json", *where)
        assert (answer.code, answer.out) == (2, "")
        assert "has 1 tolerances that 'gpu-eval confirm' raised" in answer.sentence


def test_a_confirmation_that_left_cells_out_is_no_replay_of_them(
    matrix: Matrix, chosen: Suite, tmp_path: Path
) -> None:
    rows: list[list[Entry]] = [[Status.CLOSED, Status.CLOSED], *ROWS[1:]]
    controls = {(f"{PROBLEM}:serial", name): 1e-6 for name in INPUTS}
    replay = tiny_matrix(tmp_path / "skipped", {PROBLEM: rows}, control_error=controls)
    found = [str(f) for f in check_replay(chosen, matrix, replay)]
    assert all("the replay did not run 1 mutants" in line for line in found)


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
    assert found.to_json()["left_out"] == {}
    assert found.suite.problems[0].members[1].tolerance == pytest.approx(20.0, rel=1e-3)


def test_a_fixed_tolerance_is_not_raised(matrix: Matrix, chosen: Suite) -> None:
    fixed = replace(chosen, oracle="fixed:1e-3")
    with pytest.raises(UserError, match="only tolerances of a calibrated oracle"):
        outcome(matrix, fixed, matrix)


def test_a_suite_of_other_mutants_is_refused(matrix: Matrix, chosen: Suite) -> None:
    (part,) = chosen.problems
    other = replace(chosen, problems=(replace(part, mutants=17),))
    with pytest.raises(UserError, match="counts other mutants"):
        outcome(matrix, other, matrix)
