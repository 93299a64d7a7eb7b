import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suiteopt.errors import UserError
from suiteopt.selection.constraints import Constraints
from suiteopt.selection.instance import Instance, make_instance
from suiteopt.selection.result import Proof, Secondary, Selection
from suiteopt.selection.solve import parse_solver, solve
from tests.suiteopt.selection.instances import brute_force, instance_of, instances

EXACT = ("enumerate", "cp-sat", "mathopt", "mathopt:scip", "pulp", "pulp:cbc")
TRAP = [[1, 1, 0], [1, 1, 0], [1, 0, 1], [1, 0, 1], [0, 1, 0], [0, 0, 1]]


@settings(max_examples=12, deadline=None)
@given(instances(rows=10, columns=8), st.integers(1, 3))
def test_all_solvers_prove_what_brute_force_finds(instance: Instance, budget: int) -> None:
    _, top, optima = brute_force(instance, budget)
    for solver in EXACT:
        selection = solve(instance, budget, solver)
        assert selection.detected == selection.bound == top.detected, solver
        assert selection.status == Proof.PROVED
        enumerated = solver == "enumerate"
        assert selection.optima == (optima if enumerated else None)
        assert selection.secondary == (Secondary.EXACT if enumerated else Secondary.SEARCHED)


@given(instances(), st.integers(1, 4))
def test_exact_is_no_worse_than_greedy_and_bounds_hold(instance: Instance, budget: int) -> None:
    exact, greedy = solve(instance, budget, "enumerate"), solve(instance, budget, "greedy")
    assert greedy.detected <= exact.detected <= greedy.bound
    assert (greedy.status == Proof.PROVED) == (greedy.detected == greedy.bound)


def hard_instance(seed: int = 3) -> Instance:
    """Greedy with exchanges and its own bound leave this one open."""
    random = np.random.default_rng(seed)
    return instance_of(random.random((60, 40)) < 0.1)


def test_exact_solvers_agree_where_the_incumbent_is_no_proof() -> None:
    instance = hard_instance()
    greedy = solve(instance, 5, "greedy")
    assert greedy.status == Proof.FEASIBLE
    found = {solver: solve(instance, 5, solver) for solver in ("cp-sat", "mathopt", "pulp")}
    assert {selection.status for selection in found.values()} == {Proof.PROVED}
    assert len({selection.detected for selection in found.values()}) == 1
    assert found["cp-sat"].solver == "cp-sat"
    assert found["mathopt"].solver == "mathopt:highs"
    assert found["pulp"].solver == "pulp:highs"


def test_auto_enumerates_small_instances_and_certifies_large_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert solve(instance_of(TRAP), 2).solver == "enumerate"
    monkeypatch.setattr("suiteopt.selection.solve.AUTO_WORK", 0.0)
    certified = solve(hard_instance(), 5)
    assert (certified.solver, certified.status) == ("mathopt:highs", Proof.PROVED)
    monkeypatch.setattr("suiteopt.selection.solve.AUTO_NONZEROS", 0)
    bounded = solve(hard_instance(), 5)
    assert bounded.solver == "mathopt:highs-relaxation"
    assert bounded.detected <= certified.detected <= bounded.bound


def test_a_budget_of_all_inputs_is_not_enumerated_for_ever() -> None:
    kills = np.random.default_rng(0).random((200, 30)) < 0.2
    whole = solve(instance_of(kills), 100)
    assert whole.solver != "enumerate"
    assert whole.status == Proof.PROVED
    assert whole.detected == int(kills.any(axis=1).sum())


@pytest.mark.parametrize("solver", EXACT)
def test_results_repeat_to_the_byte(solver: str) -> None:
    assert repr(strip(solve(hard_instance(), 3, solver))) == repr(
        strip(solve(hard_instance(), 3, solver))
    )


def strip(selection: Selection) -> Selection:
    from dataclasses import replace

    return replace(selection, seconds=0.0)


def test_the_order_of_columns_does_not_matter() -> None:
    random = np.random.default_rng(1)
    kills = random.random((20, 9)) < 0.4
    names = [f"i{column}" for column in range(9)]
    mutants = [f"m{row}" for row in range(20)]
    order = random.permutation(9)
    first = solve(make_instance("p", mutants, names, kills), 2)
    second = solve(make_instance("p", mutants, [names[c] for c in order], kills[:, order]), 2)
    assert first == second


def test_a_must_include_input_is_in_and_the_rest_is_the_best_beside_it() -> None:
    free = solve(instance_of(TRAP), 2)
    assert (set(free.members), free.detected) == ({"i1", "i2"}, 6)
    forced = solve(instance_of(TRAP), 2, constraints=Constraints(include=frozenset({"i0"})))
    assert (forced.members, forced.detected) == (("i0", "i1"), 5)
    assert forced.status == Proof.PROVED
    barred = solve(instance_of(TRAP), 2, constraints=Constraints(exclude=frozenset({"i2"})))
    assert (barred.members, barred.detected) == (("i0", "i1"), 5)


@given(instances(columns=6), st.integers(1, 3), st.data())
def test_constraints_agree_with_brute_force_over_the_allowed_sets(
    instance: Instance, budget: int, data: st.DataObject
) -> None:
    from itertools import combinations

    from suiteopt.selection.objective import score

    names = list(instance.inputs)
    include = data.draw(st.sets(st.sampled_from(names), max_size=budget))
    exclude = data.draw(st.sets(st.sampled_from(names))) - include
    constraints = Constraints(frozenset(include), frozenset(exclude))
    found = solve(instance, budget, constraints=constraints)
    assert include <= set(found.members) <= set(names) - exclude
    allowed = [
        columns
        for count in range(min(budget, len(names)) + 1)
        for columns in combinations(range(len(names)), count)
        if include <= {names[c] for c in columns} <= set(names) - exclude
    ]
    top = max(score(instance, columns) for columns in allowed)
    assert (found.detected, found.twice, found.slack, -found.cost) == (
        top.detected,
        top.twice,
        top.slack,
        top.thrift,
    )


def test_given_inputs_are_credited_and_members_alone_are_reported() -> None:
    instance = instance_of([[0, 1], [1, 0], [1, 0]], given=[0, 1, 1])
    selection = solve(instance, 1)
    assert (selection.members, selection.detected, selection.alone) == (("i1",), 3, 1)


def test_edges() -> None:
    assert solve(instance_of([[1, 0], [0, 1]]), 9).detected == 2
    nothing = solve(instance_of(np.zeros((3, 2))), 2)
    assert (nothing.members, nothing.detected, nothing.total) == ((), 0, 3)
    assert nothing.status == Proof.PROVED
    empty = solve(make_instance("p", [], ["i0", "i1"], []), 2)
    assert (empty.members, empty.total, empty.status) == ((), 0, Proof.PROVED)
    poor = solve(make_instance("p", ["m0"], [], []), 2)
    assert (poor.members, poor.detected, poor.status) == ((), 0, Proof.PROVED)


@pytest.mark.parametrize("solver", [*EXACT, "greedy", "auto"])
def test_every_solver_takes_the_edges(solver: str) -> None:
    for instance in (
        make_instance("p", [], ["i0"], []),
        make_instance("p", ["m0"], [], []),
        instance_of(np.zeros((2, 2))),
        instance_of([[0, 1]], given=[1]),
        instance_of([[1, 1]], given=[2]),
    ):
        assert solve(instance, 2, solver).status == Proof.PROVED


def test_refusals_are_one_sentence_that_says_what_to_do() -> None:
    instance = instance_of(TRAP)
    with pytest.raises(UserError, match="give at least 1"):
        solve(instance, 0)
    with pytest.raises(UserError, match="unknown solver 'simplex'; choose one of auto"):
        solve(instance, 1, "simplex")
    with pytest.raises(UserError, match="raise the budget"):
        solve(instance, 1, constraints=Constraints(include=frozenset({"i0", "i1"})))
    with pytest.raises(UserError, match=r"'i9'.*suiteopt show"):
        solve(instance, 1, constraints=Constraints(include=frozenset({"i9"})))
    with pytest.raises(UserError, match="both included and excluded"):
        Constraints(frozenset({"i0"}), frozenset({"i0"}))


def test_solver_names_may_carry_a_back_end() -> None:
    assert parse_solver("pulp:cbc") == ("pulp", "cbc")
    assert parse_solver("mathopt") == ("mathopt", None)
    for wrong in ("pulp:scip", "cp-sat:highs", "", "enumerate:"):
        if wrong == "enumerate:":
            assert parse_solver(wrong) == ("enumerate", None)
            continue
        with pytest.raises(UserError, match="unknown solver"):
            parse_solver(wrong)
