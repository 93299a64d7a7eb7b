"""Columns of which at most one may be chosen: one input, judged by several comparators."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suiteopt.selection.bank import best_sets, make_bank
from suiteopt.selection.enumerate import enumerate_best
from suiteopt.selection.greedy import improve, lazy_greedy, submodular_bound
from suiteopt.selection.instance import Instance, make_instance
from suiteopt.selection.objective import Score, score
from suiteopt.selection.reduce import drop_dominated
from suiteopt.selection.solve import solve
from tests.suiteopt.selection.instances import instances


@st.composite
def grouped(draw: st.DrawFn, rows: int = 7, columns: int = 6) -> Instance:
    plain = draw(instances(rows, columns))
    size = len(plain.inputs)
    groups = draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))
    return make_instance(
        plain.problem,
        plain.mutants,
        plain.inputs,
        plain.kills,
        weights=plain.weights,
        slack_decades=plain.slack / 1000,
        costs=plain.costs,
        given=plain.given,
        given_slack_decades=plain.given_slack / 1000,
        groups=groups,
    )


def brute(instance: Instance, budget: int) -> tuple[tuple[int, ...], Score]:
    assert instance.groups is not None
    sets = [
        chosen
        for size in range(budget + 1)
        for chosen in combinations(range(len(instance.inputs)), size)
        if len({int(instance.groups[column]) for column in chosen}) == size
    ]
    top = max(score(instance, chosen) for chosen in sets)
    return min(chosen for chosen in sets if score(instance, chosen) == top), top


@given(grouped(), st.integers(0, 4))
def test_enumeration_is_brute_force(instance: Instance, budget: int) -> None:
    assert enumerate_best(instance, budget)[:2] == brute(instance, budget)


@given(grouped(), st.integers(0, 3))
def test_a_bank_is_brute_force(instance: Instance, budget: int) -> None:
    bank = make_bank(instance, budget)
    winner = best_sets(bank, instance.weights[:, None])[0]
    assert bank.sets[winner] == brute(instance, budget)[0]
    assert bank.detects(np.array([winner]))[0].sum() == sum(
        (instance.given > 0) | instance.kills[:, list(bank.sets[winner])].any(axis=1)
    )


@given(grouped(), st.integers(1, 4))
def test_greedy_keeps_to_groups_and_under_its_bound(instance: Instance, budget: int) -> None:
    assert instance.groups is not None
    columns = improve(instance, lazy_greedy(instance, budget), budget)
    assert len(set(instance.groups[list(columns)].tolist())) == len(columns) <= budget
    exact = brute(instance, budget)[1].detected
    assert score(instance, columns).detected <= exact
    assert exact <= submodular_bound(instance, columns, budget)


@given(grouped(), st.integers(1, 3))
def test_dropping_dominated_columns_keeps_the_optimum(instance: Instance, budget: int) -> None:
    small, kept = drop_dominated(instance, budget)
    columns, value = brute(small, budget)
    assert (tuple(int(kept[c]) for c in columns), value) == brute(instance, budget)


@settings(max_examples=15)
@given(grouped(), st.integers(1, 3))
@pytest.mark.parametrize("solver", ["cp-sat", "mathopt", "pulp"])
def test_solvers_keep_to_groups(solver: str, instance: Instance, budget: int) -> None:
    assert instance.groups is not None
    found = solve(instance, budget, solver)
    groups = dict(zip(instance.inputs, instance.groups.tolist(), strict=True))
    assert len({groups[name] for name in found.members}) == len(found.members)
    assert found.detected == brute(instance, budget)[1].detected == found.bound
