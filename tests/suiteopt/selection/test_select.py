import json
from pathlib import Path

import pytest

from suiteopt.errors import UserError
from suiteopt.matrix.denominator import Denominator
from suiteopt.matrix.schema import Need, Status
from suiteopt.selection.constraints import Capabilities
from suiteopt.selection.export import to_suite
from suiteopt.selection.result import Proof
from suiteopt.selection.select import select
from tests.suiteopt.builders import tiny_matrix

P = "level1/001"
VALUES = frozenset({Need.VALUES})

# Two problems: the first reaches 3 of 5 with two inputs (m4 by none), the second 3 of 3.
KEYS = {
    "budget",
    "oracle",
    "target",
    "problems",
    "mutants",
    "fitted_share",
    "fitted_macro_share",
    "distinct_share",
    "by_family",
    "members",
    "false_rejections",
    "status",
    "seconds",
}


def test_figures_of_a_matrix_that_is_known_by_hand(tmp_path: Path) -> None:
    selection = select(tiny_matrix(tmp_path / "m"), 2)
    assert (selection.tally.mutants, selection.tally.detected) == (8, 6)
    assert selection.fitted_share == 6 / 8
    assert selection.fitted_macro_share == pytest.approx((3 / 5 + 1) / 2)
    assert selection.members == 4
    assert selection.status == Proof.PROVED
    assert selection.false_rejections == 0
    families = selection.by_family
    assert {name: (tally.mutants, tally.detected) for name, tally in families.items()} == {
        "arithmetic": (2, 2),
        "boundary": (2, 2),
        "indexing": (2, 2),
        "precision": (1, 0),
        "semantic": (1, 0),
    }
    first, second = selection.problems
    assert first.selection.members == (f"{P}:i0", f"{P}:i1")
    assert first.survivors == (f"{P}:m3", f"{P}:m4")
    assert (first.unkillable, first.selection.optima) == (1, 3)
    assert (first.nulls.mutants, first.nulls.detected, first.surviving_nulls) == (1, 1, ())
    assert second.survivors == ()


def test_json_has_the_keys_that_others_script_against(tmp_path: Path) -> None:
    found = select(tiny_matrix(tmp_path / "m"), 2).as_dict()
    assert set(found) >= KEYS
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["status"] == "proved"
    assert found["by_family"]["semantic"] == {"mutants": 1, "detected": 0, "missed_share": 1.0}


def test_the_same_question_has_the_same_answer(tmp_path: Path) -> None:
    first = select(tiny_matrix(tmp_path / "a"), 2)
    assert select(tiny_matrix(tmp_path / "b"), 2) == first


def test_equal_behaviour_weighs_one(tmp_path: Path) -> None:
    # m0, m1 behave equally and die, m2 lives
    matrix = tiny_matrix(tmp_path / "m", {P: [[1, 0], [1, 0], [0, 0]]})
    selection = select(matrix, 1)
    assert selection.fitted_share == 2 / 3
    assert selection.distinct_share == 1 / 2


def test_a_harness_that_draws_first_is_credited(tmp_path: Path) -> None:
    kills = {P: [[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}
    matrix = tiny_matrix(tmp_path / "m", kills, own=True, own_kills={P: [True, True, False, False]})
    own_first = Capabilities(VALUES, "fixed:0.001", 4, own_first=True)
    selection = select(matrix, 2, capabilities=own_first, target="t")
    assert set(selection.problems[0].selection.members) == {f"{P}:i1", f"{P}:i2"}
    assert (selection.fitted_share, selection.alone_share) == (1.0, 0.5)
    assert (selection.oracle, selection.target) == ("fixed:0.001", "t")
    # members only: i0 is needed, and the two scalings that kill m0, m1, too, are no better
    alone = Capabilities(VALUES, "fixed:0.001", 4, own_first=False)
    assert select(matrix, 2, capabilities=alone).fitted_share == 0.75


def test_own_draws_that_a_matrix_lacks_are_a_reason_to_refuse(tmp_path: Path) -> None:
    own_first = Capabilities(VALUES, None, 4, own_first=True)
    with pytest.raises(UserError, match="own"):
        select(tiny_matrix(tmp_path / "m"), 1, capabilities=own_first)


def test_a_target_gets_what_it_can_carry(tmp_path: Path) -> None:
    matrix = tiny_matrix(
        tmp_path / "m",
        {P: [[1, 0], [1, 0], [0, 1]]},
        inputs={f"{P}:i0": {"needs": ["values", "parameters"]}},
    )
    assert select(matrix, 1).problems[0].selection.members == (f"{P}:i0",)
    plain = Capabilities(VALUES, None, None, own_first=False)
    assert select(matrix, 1, capabilities=plain).problems[0].selection.members == (f"{P}:i1",)
    nothing = Capabilities(frozenset(), None, None, own_first=False)
    with pytest.raises(UserError, match="choose another target"):
        select(matrix, 1, capabilities=nothing)


def test_a_target_with_an_oracle_of_its_own_decides(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    target = Capabilities(VALUES, "fixed:0.001", 1, own_first=False)
    with pytest.raises(UserError, match=r"judges by its own oracle, fixed:0.001"):
        select(matrix, 1, "calibrated", capabilities=target)
    assert select(matrix, 1, "fixed:1e-3", capabilities=target).oracle == "fixed:0.001"
    with pytest.raises(UserError, match="at most 1 members"):
        select(matrix, 2, capabilities=target)


def test_an_input_that_rejects_a_calibrating_control_is_never_chosen(tmp_path: Path) -> None:
    matrix = tiny_matrix(
        tmp_path / "m",
        {P: [[1, 0], [1, 0], [0, 1]]},
        control_error={(f"{P}:serial", f"{P}:i0"): 0.5},
    )
    fixed = select(matrix, 1, "fixed:0.01")
    assert fixed.problems[0].selection.members == (f"{P}:i1",)
    assert fixed.false_rejections == 0


def test_rejected_blind_controls_are_counted_not_avoided(tmp_path: Path) -> None:
    blind = f"{P}:chunked"
    matrix = tiny_matrix(
        tmp_path / "m",
        {P: [[1, 0], [1, 0], [0, 1]]},
        control_error={(blind, f"{P}:i0"): 0.5},
        implementations={blind: {"blind": True}},
    )
    selection = select(matrix, 1)
    assert selection.problems[0].selection.members == (f"{P}:i0",)
    assert (selection.false_rejections, selection.problems[0].control_cells) == (1, 3)


def test_bytes_break_ties_before_ids(tmp_path: Path) -> None:
    kills = {P: [[1, 1]]}
    assert select(tiny_matrix(tmp_path / "a", kills), 1).problems[0].selection.members == (
        f"{P}:i0",
    )
    dear = tiny_matrix(tmp_path / "b", kills, inputs={f"{P}:i0": {"bytes": 10**6}})
    assert select(dear, 1).problems[0].selection.members == (f"{P}:i1",)


def test_more_slack_is_better_before_bytes(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", {P: [[0.5, 50.0]]})
    assert select(matrix, 1, "fixed:0.1").problems[0].selection.members == (f"{P}:i1",)


def test_cells_that_did_not_run_are_no_kills_and_are_counted(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", {P: [[None, 1], [None, 0]]})
    selection = select(matrix, 2)
    assert selection.fitted_share == 0.5
    assert selection.problems[0].unknown_cells == 2


def test_a_crash_is_a_kill(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", {P: [[Status.CRASH, 0], [0, Status.CLOSED]]})
    assert select(matrix, 2).fitted_share == 1.0


def test_an_incomplete_matrix_needs_consent(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", complete=False)
    with pytest.raises(UserError, match="gpu-eval resume"):
        select(matrix, 1)
    assert select(matrix, 1, allow_incomplete=True).members == 2


def test_mutants_outside_the_denominator_and_locked_ones_do_not_count(tmp_path: Path) -> None:
    matrix = tiny_matrix(
        tmp_path / "m",
        {P: [[1, 0], [0, 1], [0, 1], [1, 0]]},
        mutants={f"{P}:m1": {"witness": "none"}, f"{P}:m2": {"locked": True}},
    )
    assert select(matrix, 1).tally.mutants == 2
    assert select(matrix, 1, denominator=Denominator.VALID).tally.mutants == 3
    assert select(matrix, 1, locked=True).tally.mutants == 3


def test_the_fewest_inputs_for_a_share_of_each_problem_and_of_all(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", {P: [[1, 0], [0, 1]], "level1/019": [[1, 0], [1, 0]]})
    each = select(matrix, 2, detect=1.0)
    assert (each.members, each.at_least, each.status) == (3, 3, Proof.PROVED)
    overall = select(matrix, 2, detect=0.75, detect_overall=True)
    assert (overall.members, overall.at_least, overall.fitted_share) == (2, 2, 0.75)
    with pytest.raises(UserError, match="level1/001"):
        select(matrix, 1, detect=1.0)


def test_include_and_exclude_by_id(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    forced = select(matrix, 1, include=[f"{P}:i2"])
    assert forced.problems[0].selection.members == (f"{P}:i2",)
    barred = select(matrix, 1, exclude=[f"{P}:i0"])
    assert barred.problems[0].selection.members == (f"{P}:i1",)
    with pytest.raises(UserError, match="no input 'level1/001:i9'"):
        select(matrix, 1, include=[f"{P}:i9"])


@pytest.mark.parametrize("budget", [0, -1])
def test_a_budget_that_buys_nothing_is_refused(tmp_path: Path, budget: int) -> None:
    with pytest.raises(UserError, match="give at least 1"):
        select(tiny_matrix(tmp_path / "m"), budget)


def test_unknown_names_are_refused(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    with pytest.raises(UserError, match="oracle"):
        select(matrix, 1, "exact")
    with pytest.raises(UserError, match="unknown solver"):
        select(matrix, 1, solver="simplex")


def test_a_suite_carries_what_an_export_needs(tmp_path: Path) -> None:
    kills = {P: [[1, 0], [1, 0], [0, 1]], "level1/019": [[0, 0]]}
    matrix = tiny_matrix(tmp_path / "m", kills)
    suite = to_suite(select(matrix, 2, "fixed:0.01"), matrix, "suiteopt select --budget 2")
    assert suite.matrix_id == matrix.id
    assert (suite.oracle, suite.budget, suite.target) == ("fixed:0.01", 2, None)
    assert [problem.problem for problem in suite.problems] == [P]  # nothing was chosen for 19
    problem = suite.problems[0]
    assert (problem.mutants, problem.detected, problem.level) == (3, 3, 1)
    assert [member.input for member in problem.members] == [f"{P}:i0", f"{P}:i1"]
    member = problem.members[0]
    stored = matrix.inputs_of(P).set_index("input").loc[f"{P}:i0"]
    assert member.values == json.loads(stored["values"])
    assert set(member.values) == {"A"}
    assert (member.shape, member.seed) == ({"N": 16}, 0)
    assert (member.tolerance, member.comparator) == (0.01, "allclose_candidate")


def test_a_suite_is_not_made_from_another_matrix(tmp_path: Path) -> None:
    selection = select(tiny_matrix(tmp_path / "a"), 1)
    with pytest.raises(ValueError, match="another matrix"):
        to_suite(selection, tiny_matrix(tmp_path / "b", {P: [[1]]}), "")
