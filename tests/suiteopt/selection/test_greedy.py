import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from suiteopt.selection.enumerate import enumerate_best
from suiteopt.selection.greedy import improve, lazy_greedy, marginal_gains, submodular_bound
from suiteopt.selection.instance import Instance
from suiteopt.selection.objective import score, strongest_first
from tests.suiteopt.selection.instances import instance_of, instances

# greedy takes i0 (4 of 6) and then one more; i1 and i2 together detect all
TRAP = [[1, 1, 0], [1, 1, 0], [1, 0, 1], [1, 0, 1], [0, 1, 0], [0, 0, 1]]


def test_lazy_greedy_falls_into_the_trap_and_exchanges_leave_it() -> None:
    instance = instance_of(TRAP)
    assert lazy_greedy(instance, 2) == (0, 1)
    assert score(instance, (0, 1)).detected == 5
    assert improve(instance, (0, 1), 2) == (1, 2)


@given(instances(), st.integers(1, 4))
def test_lazy_greedy_is_plain_greedy(instance: Instance, budget: int) -> None:
    chosen: list[int] = []
    while len(chosen) < budget:
        gains = marginal_gains(instance, chosen)
        if gains.max() == 0:
            break
        chosen.append(int(np.argmax(gains)))
    assert lazy_greedy(instance, budget) == tuple(chosen)


@given(instances(), st.integers(1, 4))
def test_improvement_never_loses_and_never_beats_the_optimum(
    instance: Instance, budget: int
) -> None:
    start = lazy_greedy(instance, budget)
    better = improve(instance, start, budget)
    assert len(better) <= budget
    assert score(instance, start) <= score(instance, better) <= enumerate_best(instance, budget)[1]


@given(instances(), st.integers(0, 4), st.data())
def test_the_submodular_bound_is_above_every_solution(
    instance: Instance, budget: int, data: st.DataObject
) -> None:
    columns = data.draw(st.sets(st.integers(0, len(instance.inputs) - 1)))
    bound = submodular_bound(instance, sorted(columns), budget)
    assert bound >= enumerate_best(instance, budget)[1].detected


def test_members_stand_strongest_first() -> None:
    # alone: i2 detects 3, i0 and i1 2 each; behind i2 only i1 adds one
    instance = instance_of([[1, 0, 1], [1, 0, 1], [0, 1, 1], [0, 1, 0]])
    assert strongest_first(instance, (0, 1, 2)) == (2, 1, 0)
