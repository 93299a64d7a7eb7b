from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from suiteopt.selection import cover, cover_search
from suiteopt.selection.cover import Cover, minimum_cover
from suiteopt.selection.cover_search import (
    CoverTable,
    complete,
    dual_bound,
    search_cover,
    without_redundant,
)
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
    found = minimum_cover(kills, costs)
    assert np.array_equal(kills[:, list(found.columns)].any(axis=1), need)
    assert (found.cost, found.bound, found.status) == (cheapest, cheapest, Proof.PROVED)
    searched = minimum_cover(kills, costs, seconds=0)
    assert np.array_equal(kills[:, list(searched.columns)].any(axis=1), need)
    assert searched.bound <= cheapest <= searched.cost


@settings(deadline=None, max_examples=40)
@given(instances(rows=7, columns=7), st.data())
def test_what_the_search_is_made_of_covers_and_bounds(
    instance: Instance, data: st.DataObject
) -> None:
    kills = instance.kills[instance.kills.any(axis=1)]
    rows, columns = kills.shape
    prices = data.draw(st.lists(st.integers(1, 4), min_size=columns, max_size=columns))
    table = CoverTable(csr_array(kills), np.array(prices, dtype=np.int64))
    cheapest = minimum_cover(kills, table.price).cost
    assert dual_bound(table) <= cheapest
    nothing = np.zeros(rows, dtype=np.int32)
    greedy = complete(table, nothing, table.price.astype(float), np.ones(rows))
    lean = without_redundant(table, greedy)
    found = search_cover(table)
    for chosen in (greedy, lean, found):
        assert (table.counts(chosen) > 0).all()
    assert cheapest <= table.cost(found) <= table.cost(lean) <= table.cost(greedy)
    assert found == search_cover(table)
    for column in lean:  # none of them is superfluous
        assert (table.counts([c for c in lean if c != column]) == 0).any()


def test_a_chunked_table_says_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    kills = np.random.default_rng(0).random((60, 12)) < 0.3
    kills[:, 0] |= ~kills.any(axis=1)

    def figures() -> tuple[list[int], int]:
        table = CoverTable(csr_array(kills), np.ones(12, dtype=np.int64))
        return search_cover(table), dual_bound(table)

    whole = figures()
    monkeypatch.setattr(cover_search, "_CHUNK_KILLS", 20)
    assert figures() == whole


def test_large_instances_are_not_searched_for_dominance(monkeypatch: pytest.MonkeyPatch) -> None:
    kills = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=bool)
    monkeypatch.setattr(cover, "DOMINANCE_WORK", 0)
    found = minimum_cover(kills, seconds=0)
    assert (found.columns, found.core) == ((1,), (3, 3))


def test_reductions_alone_prove_a_chain() -> None:
    # i0 is essential for m0 and covers m1; of i1 and i2 the first does the rest
    found = minimum_cover(np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 1, 1]], dtype=bool))
    assert (found.columns, found.core) == ((0, 1), (0, 0))


def test_a_square_core_is_no_proof_and_is_finished_exactly() -> None:
    # five rows, five columns, every row has two killers in a ring: nothing reduces, optimum 3
    ring = np.eye(5, dtype=bool) | np.roll(np.eye(5, dtype=bool), 1, axis=1)
    found = minimum_cover(ring)
    assert found.core == (5, 5)
    assert (found.cost, found.bound) == (3, 3)


def test_row_dominance_is_wrong_under_a_budget() -> None:
    """Dropping the mutants that others imply changes which single input is best."""
    from suiteopt.selection.parts import keep_rows
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
