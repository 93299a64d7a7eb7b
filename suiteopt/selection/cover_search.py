"""Full covers without a proof: greedy, without what is superfluous, and improved by exchanges."""

from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

STARTS, ROUNDS = 10, 1000
"""Greedy covers to begin with, and exchanges after them, on an instance of moderate size."""

START_WORK, ROUND_WORK = 60_000_000, 200_000_000
"""Kills times starts, and times exchanges, above which fewer are made: work has a limit, not the
clock, so the cover is the same on every machine."""

_TRIES = 20  # exchanges for each member: a small cover has few of them
_CHUNK_KILLS = 1_000_000
_RISE, _FALL = 0.1, 0.03  # of a row's weight, where one column covers it and where several do
_NOISE = 0.15  # a repair must not always find what it lost
_SHARE, _MOST = 0.1, 25  # columns that one exchange takes out


@dataclass(frozen=True, eq=False)
class CoverTable:
    """Which column covers which row, by row and by column, with prices.

    Attributes
    ----------
    by_row : csr_array of bool, shape (m, n)
        Every row has a column.
    price : ndarray of int64, shape (n,)
        Positive.
    """

    by_row: csr_array
    price: NDArray[np.int64]

    @cached_property
    def by_column(self) -> csc_array:
        """The same, by column."""
        return csc_array(self.by_row)

    def rows(self, column: int) -> NDArray[np.int32]:
        """Rows that a column covers."""
        table = self.by_column
        found: NDArray[np.int32] = table.indices[table.indptr[column] : table.indptr[column + 1]]
        return found

    def gains(self, rows: NDArray[Any], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weight of some rows that each column covers; shape (n,)."""
        found = np.zeros(len(self.price))
        for start in range(0, len(rows), self._step):
            some = rows[start : start + self._step]
            part = self.by_row[some]
            each = np.repeat(weights[some], np.diff(part.indptr))
            found += np.bincount(part.indices, weights=each, minlength=len(self.price))
        return found

    @cached_property
    def _step(self) -> int:
        """Rows that are looked at together, so that no copy of the whole is made."""
        return max(1, _CHUNK_KILLS * self.by_row.shape[0] // max(self.by_row.nnz, 1))

    def cheapest_shares(self) -> NDArray[np.float64]:
        """Smallest price / rows of the columns that cover each row; shape (m,)."""
        shares = self.price / np.maximum(np.diff(self.by_column.indptr), 1)
        found = np.zeros(self.by_row.shape[0])
        for start in range(0, len(found), self._step):
            part = self.by_row[start : start + self._step]
            found[start : start + self._step] = np.minimum.reduceat(
                shares[part.indices], part.indptr[:-1]
            )
        return found

    def counts(self, columns: list[int]) -> NDArray[np.int32]:
        """How often some columns cover each row; shape (m,)."""
        found = np.zeros(self.by_row.shape[0], dtype=np.int32)
        for column in columns:
            found[self.rows(column)] += 1
        return found

    def cost(self, columns: list[int]) -> int:
        """Sum of prices."""
        return int(self.price[columns].sum())


def search_cover(table: CoverTable) -> list[int]:
    """Return a cheap full cover; ascending columns, the same on every machine."""
    best = _weighted_starts(table)
    rounds = min(ROUNDS, _TRIES * len(best), ROUND_WORK // max(table.by_row.nnz, 1))
    return _exchanged(table, best, rounds, dual_bound(table))


def _weighted_starts(table: CoverTable) -> list[int]:
    """Greedy again and again; what only one column covered weighs more the next time."""
    rows = table.by_row.shape[0]
    weights, price = np.ones(rows), table.price.astype(np.float64)
    best: list[int] | None = None
    for _ in range(max(1, min(STARTS, START_WORK // max(table.by_row.nnz, 1)))):
        chosen = complete(table, np.zeros(rows, dtype=np.int32), price, weights)
        chosen = without_redundant(table, chosen)
        if best is None or table.cost(chosen) < table.cost(best):
            best = chosen
        once = table.counts(chosen) == 1
        weights *= np.where(once, 1.0 + _RISE, 1.0 / (1.0 + _FALL))
    return best or []


def complete(
    table: CoverTable,
    counts: NDArray[np.int32],
    price: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> list[int]:
    """Cover what has no count yet: most weight for the money, again and again.

    Equal ratios go to the smaller column.
    """
    is_open = counts == 0
    left = np.flatnonzero(is_open)
    gains = table.gains(left, weights)
    chosen: list[int] = []
    missing = len(left)
    while missing:
        column = int(np.argmax(gains / price))
        new = table.rows(column)
        new = new[is_open[new]]
        is_open[new] = False
        missing -= len(new)
        chosen.append(column)
        if missing:
            gains -= table.gains(new, weights)
            gains[chosen] = 0.0  # what rounding leaves of it is no gain
    return chosen


def without_redundant(table: CoverTable, columns: list[int]) -> list[int]:
    """Drop columns, the dearest first, that the others make superfluous."""
    counts = table.counts(columns)
    kept = set(columns)
    for column in sorted(columns, key=lambda c: (-int(table.price[c]), -c)):
        rows = table.rows(column)
        if counts[rows].min(initial=2) >= 2:
            counts[rows] -= 1
            kept.discard(column)
    return sorted(kept)


def _exchanged(table: CoverTable, columns: list[int], rounds: int, bound: int) -> list[int]:
    """Take some columns out, repair greedily at prices that are slightly off, keep what is better.

    Ruin and recreate (Schrimpf and others 2000) with a fixed seed. One as cheap is kept too, so
    that the search moves on; a dearer one never.
    """
    random = np.random.default_rng(0)
    best, cost = columns, table.cost(columns)
    counts, even = table.counts(best), np.ones(table.by_row.shape[0])
    for _ in range(rounds):
        if len(best) < 2 or cost == bound:
            break
        size = min(len(best) - 1, _MOST, max(2, round(_SHARE * len(best))))
        out = {int(column) for column in random.choice(best, size, replace=False)}
        left = counts.copy()
        for column in out:
            left[table.rows(column)] -= 1
        off = table.price * (1.0 + _NOISE * random.random(len(table.price)))
        tried = [column for column in best if column not in out]
        tried = sorted({*tried, *complete(table, left, off, even)})
        tried = without_redundant(table, tried)
        if table.cost(tried) <= cost:
            best, cost = tried, table.cost(tried)
            counts = table.counts(best)
    return best


def dual_bound(table: CoverTable) -> int:
    """Bound the cost of every full cover from below, by one pass over the kills.

    Every row pays the smallest share that a column asks of it, price / rows; no column is then
    paid more than its price, which is a feasible solution of the dual linear programme.
    """
    return ceil(float(table.cheapest_shares().sum()) - 1e-6)
