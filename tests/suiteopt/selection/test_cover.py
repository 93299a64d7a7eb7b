from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suiteopt.selection.cover import Cover, minimum_cover
from suiteopt.selection.instance import Instance
from suiteopt.selection.result import Proof
from tests.suiteopt.selection.instances import instances


@settings(deadline=None)
@given(instances(rows=7, columns=7), st.data())
def test_the_cheapest_cover_is_brute_force(instance: Instance, data: st.DataObject) -> None:
    kills = instance.kills
    columns = kills.shape[1]
    costs = np.array(data.draw(st.lists(st.integers(1, 4), min_size=columns, max_size=columns)))
    need = kills.any(axis=1)
    cheapest = min(
        int(costs[list(chosen)].sum())
        for count in range(columns + 1)
        for chosen in combinations(range(columns), count)
        if np.array_equal(kills[:, list(chosen)].any(axis=1), need)
    )
    cover = minimum_cover(kills, costs)
    assert np.array_equal(kills[:, list(cover.columns)].any(axis=1), need)
    assert (cover.cost, cover.bound, cover.status) == (cheapest, cheapest, Proof.PROVED)


def test_reductions_alone_prove_a_chain() -> None:
    # i0 is essential for m0 and covers m1; of i1 and i2 the first does the rest
    cover = minimum_cover(np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 1, 1]], dtype=bool))
    assert (cover.columns, cover.core) == ((0, 1), (0, 0))


def test_a_square_core_is_no_proof_and_is_finished_exactly() -> None:
    # five rows, five columns, every row has two killers in a ring: nothing reduces, optimum 3
    ring = np.eye(5, dtype=bool) | np.roll(np.eye(5, dtype=bool), 1, axis=1)
    cover = minimum_cover(ring)
    assert cover.core == (5, 5)
    assert (cover.cost, cover.bound) == (3, 3)


def test_row_dominance_is_wrong_under_a_budget() -> None:
    """Dropping the mutants that others imply changes which single input is best."""
    from suiteopt.selection.instance import keep_rows
    from suiteopt.selection.solve import solve
    from tests.suiteopt.selection.instances import instance_of

    # the killers of m1 and m2 include those of m0: full cover may forget m1 and m2
    instance = instance_of([[1, 0, 0], [1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1]])
    assert solve(instance, 1).members == ("i0",)
    reduced = keep_rows(instance, np.array([0, 3, 4]))
    assert solve(reduced, 1).members == ("i2",)
    assert minimum_cover(instance.kills).columns == minimum_cover(reduced.kills).columns == (0, 2)


def test_a_bound_above_the_cost_cannot_be_written_down() -> None:
    with pytest.raises(ValueError, match="bound"):
        Cover((0,), 1, 2, (0, 0))
    assert Cover((0,), 2, 1, (0, 0)).status == Proof.FEASIBLE


def test_costs_must_be_positive() -> None:
    with pytest.raises(ValueError, match="positive"):
        minimum_cover(np.ones((1, 1), dtype=bool), np.array([0]))
