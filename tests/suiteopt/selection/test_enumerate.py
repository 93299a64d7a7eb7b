import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suiteopt.selection.bank import best_sets, make_bank
from suiteopt.selection.enumerate import enumerate_best
from suiteopt.selection.instance import Instance
from suiteopt.selection.objective import Score
from suiteopt.selection.parts import keep_rows
from tests.suiteopt.selection.instances import brute_force, instance_of, instances


@given(instances(), st.integers(0, 5))
def test_enumeration_is_brute_force(instance: Instance, budget: int) -> None:
    assert enumerate_best(instance, budget) == brute_force(instance, budget)


@given(instances(), st.integers(0, 4), st.data())
def test_a_bank_gives_the_enumerated_suite_under_every_weighting(
    instance: Instance, budget: int, data: st.DataObject
) -> None:
    rows = len(instance.mutants)
    kept = np.array(
        data.draw(st.lists(st.lists(st.booleans(), min_size=rows, max_size=rows), min_size=1))
    )
    bank = make_bank(instance, budget)
    winners = best_sets(bank, np.where(kept.T, instance.weights[:, None], 0))
    for mask, winner in zip(kept, winners, strict=True):
        training = keep_rows(instance, np.flatnonzero(mask))
        assert bank.sets[winner] == enumerate_best(training, budget)[0]


def test_a_bank_stays_exact_where_the_three_objectives_do_not_fit_one_number() -> None:
    kills = [[1, 0, 1], [0, 1, 1], [0, 1, 0]]
    instance = instance_of(kills, weights=[2**30, 2**30, 1], slack_decades=np.full((3, 3), 6.0))
    bank = make_bank(instance, 1)
    assert bank.sets[best_sets(bank, instance.weights[:, None])[0]] == (2,)


def test_detection_comes_first() -> None:
    # i1 and i2 detect three; the pair i0, i1 kills one twice but detects two
    instance = instance_of([[1, 1, 0], [0, 1, 0], [0, 0, 1]])
    assert enumerate_best(instance, 2)[:2] == ((1, 2), Score(3, 0, 0, 0))


def test_among_equal_detection_a_second_kill_decides() -> None:
    # {i0, i1}, {i0, i2}: all three detected by both, m0 twice by the second only
    instance = instance_of([[1, 0, 1], [1, 0, 0], [0, 1, 1]])
    columns, value, optima = enumerate_best(instance, 2)
    assert (columns, value.detected, value.twice, optima) == ((0, 2), 3, 1, 2)


def test_then_slack_decides() -> None:
    instance = instance_of([[1, 1]], slack_decades=[[1.0, 2.0]])
    assert enumerate_best(instance, 1)[:2] == ((1,), Score(1, 0, 2000, 0))


def test_then_cost_decides() -> None:
    instance = instance_of([[1, 1]], costs=[5, 4])
    assert enumerate_best(instance, 1)[:2] == ((1,), Score(1, 0, 0, -4))


def test_then_the_id_decides_whatever_the_order_of_the_columns() -> None:
    assert enumerate_best(instance_of([[1, 1, 1]]), 2)[0] == (0, 1)


def test_an_input_that_adds_nothing_is_not_bought() -> None:
    # the second killer of m0 adds a second kill, the third column nothing at all
    instance = instance_of([[1, 1, 0]], costs=[1, 1, 1])
    assert enumerate_best(instance, 1)[0] == (0,)
    assert enumerate_best(instance, 3)[0] == (0, 1)


def test_given_kills_count_once_and_twice() -> None:
    instance = instance_of([[0, 1], [1, 0], [0, 0]], given=[1, 0, 2])
    assert enumerate_best(instance, 1)[:2] == ((0,), Score(3, 1, 0, 0))
    assert enumerate_best(instance, 2)[:2] == ((0, 1), Score(3, 2, 0, 0))


@pytest.mark.parametrize("budget", [1, 2, 3])
def test_a_thousand_ties_are_thinned_to_the_first(
    budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("suiteopt.selection.enumerate.TIES_HELD", 3)
    instance = instance_of(np.ones((2, 12)), slack_decades=np.ones((2, 12)), costs=[1] * 12)
    columns, _, optima = enumerate_best(instance, budget)
    assert columns == tuple(range(min(budget, 2)))
    assert optima == {1: 12, 2: 66, 3: 220}[budget]
