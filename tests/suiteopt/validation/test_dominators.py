from itertools import combinations

import numpy as np
from hypothesis import given

from suiteopt.selection.instance import Instance
from suiteopt.validation.dominators import dominators
from tests.suiteopt.selection.instances import instance_of, instances


def test_mutants_that_fall_with_others_are_left_out() -> None:
    # m0 dies by i0 alone; m1 too, and by i1; m2 by i1 and i2; m3 by all; m4 never; m5 like m0
    table = [[1, 0, 0], [1, 1, 0], [0, 1, 1], [1, 1, 1], [0, 0, 0], [1, 0, 0]]
    found = dominators(instance_of(table))
    assert found.rows.tolist() == [0, 2]
    assert found.killable == 5


def test_nothing_killable_has_no_dominators() -> None:
    found = dominators(instance_of([[0, 0]]))
    assert (found.rows.tolist(), found.killable) == ([], 0)


@given(instances())
def test_a_suite_kills_all_that_is_killable_when_it_kills_the_dominators(
    instance: Instance,
) -> None:
    found = dominators(instance)
    table = np.column_stack([instance.kills, instance.given > 0])
    killable = table.any(axis=1)
    assert found.killable == killable.sum()
    columns = range(table.shape[1])
    for size in range(3):
        for chosen in combinations(columns, size):
            killed = table[:, list(chosen)].any(axis=1)
            assert bool(killed[found.rows].all()) == bool(killed[killable].all())
    # and none of them is superfluous: no two are comparable
    for a, b in combinations(found.rows, 2):
        assert np.any(table[a] & ~table[b])
        assert np.any(table[b] & ~table[a])
