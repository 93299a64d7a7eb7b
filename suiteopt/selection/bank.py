"""Every small suite of one problem, valued under many weightings at once.

Cross-validation solves the same instance hundreds of times with other weights: a held-out mutant
weighs nothing. All sets of at most k columns are therefore tabled once, row by row, and one matrix
product values all of them under all weightings. Sets stand in the order of (cost, ids), so that
the first maximum is the one that the specification wants.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from suiteopt.selection.instance import Instance

BANK_CELLS = 40_000_000
"""Sets x mutants up to which a bank is built; one such table of float64 has 320 MB."""

_PRODUCT_CELLS = 2_000_000  # a product that stays in the cache


@dataclass(frozen=True, eq=False)
class Bank:
    """All sets of at most k columns, over classes of mutants with equal kills.

    Attributes
    ----------
    sets : tuple of tuple of int
        Ascending columns, in the order of (cost, ids).
    padded : ndarray of intp, shape (sets, k)
        The same, filled up with -1.
    classes : ndarray of intp, shape (m,)
        The class of each mutant.
    detected, twice : ndarray of bool, shape (sets, classes)
    instance : Instance
    """

    sets: tuple[tuple[int, ...], ...]
    padded: NDArray[np.intp]
    classes: NDArray[np.intp]
    detected: NDArray[np.bool_]
    twice: NDArray[np.bool_]
    instance: Instance

    def detects(self, sets: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Tell which mutants some sets detect; shape (len(sets), m)."""
        found: NDArray[np.bool_] = self.detected[sets][:, self.classes]
        return found

    def summed(self, weights: NDArray[Any]) -> NDArray[np.float64]:
        """Add up weights of mutants, shape (m, f), by class, shape (classes, f)."""
        total: NDArray[np.float64] = self._members @ weights.astype(np.float64)
        return total

    def reached(self, weights: NDArray[Any]) -> NDArray[np.float64]:
        """Most weight that any set detects under each weighting; shape (f,)."""
        most: NDArray[np.float64] = product(self.detected, self.summed(weights)).max(axis=0)
        return most

    def slack(self, sets: NDArray[np.intp]) -> NDArray[np.int32]:
        """Largest slack of a killer by set and mutant; shape (len(sets), m)."""
        best = np.tile(self.instance.given_slack, (len(sets), 1))
        slacks = self.instance.slack.T
        for position in range(self.padded.shape[1]):
            columns = self.padded[sets, position]
            rows = np.flatnonzero(columns >= 0)
            best[rows] = np.maximum(best[rows], slacks[columns[rows]])
        return best

    @cached_property
    def _members(self) -> csr_array:
        rows = np.arange(len(self.classes))
        shape = (self.detected.shape[1], len(self.classes))
        return csr_array((np.ones(len(rows)), (self.classes, rows)), shape=shape)


def bank_cells(instance: Instance, budget: int) -> int:
    """Size of the tables that `make_bank` would build."""
    columns = len(instance.inputs)
    sets = sum(comb(columns, size) for size in range(min(budget, columns) + 1))
    return sets * max(1, len(instance.mutants))


def make_bank(instance: Instance, budget: int) -> Bank:
    """Table all sets of at most ``budget`` columns of an instance."""
    width = min(budget, len(instance.inputs))
    sets, padded = _sets(instance, width)
    first, classes = _classes(instance)
    counts = np.tile(instance.given[first], (len(sets), 1))
    kills = instance.kills[first].T.astype(np.int8)
    for position in range(width):
        rows = np.flatnonzero(padded[:, position] >= 0)
        counts[rows] = np.minimum(2, counts[rows] + kills[padded[rows, position]])
    return Bank(sets, padded, classes, counts >= 1, counts >= 2, instance)


@lru_cache(maxsize=8)
def _combinations(columns: int, width: int) -> tuple[list[tuple[int, ...]], NDArray[np.intp]]:
    """All sets of at most ``width`` columns; many problems have as many inputs."""
    numbers = range(columns)
    sets = [chosen for size in range(width + 1) for chosen in combinations(numbers, size)]
    lengths = np.fromiter((len(chosen) for chosen in sets), dtype=np.intp, count=len(sets))
    padded = np.full((len(sets), max(width, 1)), -1, dtype=np.intp)
    padded[np.arange(padded.shape[1]) < lengths[:, None]] = list(chain.from_iterable(sets))
    return sets, padded


def _classes(instance: Instance) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First mutant of every class of equal kills and given kills, and each mutant's class."""
    if not instance.mutants:
        nothing = np.zeros(0, dtype=np.intp)
        return nothing, nothing
    keyed = np.column_stack([instance.kills.view(np.uint8), instance.given.view(np.uint8)])
    rows = np.ascontiguousarray(keyed).view([("", np.uint8)] * keyed.shape[1]).ravel()
    _, first, classes = np.unique(rows, return_index=True, return_inverse=True)
    return first, classes.ravel()


def _sets(instance: Instance, width: int) -> tuple[tuple[tuple[int, ...], ...], NDArray[np.intp]]:
    """All sets that the groups allow, by (cost, ids), and the same as a table padded with -1."""
    sets, padded = _combinations(len(instance.inputs), width)
    costs = np.append(instance.costs, 0)[padded].sum(axis=1)  # -1 is the 0 behind them
    order = np.lexsort((*padded.T[::-1], costs))
    if instance.groups is not None:
        groups = np.append(instance.groups, 0)[padded]
        groups = np.where(padded >= 0, groups, -1 - np.arange(padded.shape[1]))
        ranked = np.sort(groups, axis=1)[order]
        order = order[(np.diff(ranked, axis=1) != 0).all(axis=1)]
    return tuple(sets[position] for position in order), padded[order]


def best_sets(bank: Bank, weights: NDArray[np.int64]) -> NDArray[np.intp]:
    """Lexicographically best set under each weighting.

    Detection is valued for all sets; what stands behind it, only for sets that tie under some
    weighting.

    Parameters
    ----------
    bank : Bank
    weights : ndarray of int, shape (m, f)
        One weighting a column; zero takes a mutant out.

    Returns
    -------
    ndarray of intp, shape (f,)
        Positions in ``bank.sets``. Exact: all sums are whole numbers below 2**53.
    """
    winners = np.empty(weights.shape[1], dtype=np.intp)
    step = max(1, _PRODUCT_CELLS // max(1, len(bank.sets)))
    by_class = bank.summed(weights)
    for start in range(0, weights.shape[1], step):
        part = slice(start, start + step)
        value = product(bank.detected, by_class[:, part])
        winners[part] = break_ties(bank, value == value.max(axis=0), weights[:, part])
    return winners


def break_ties(bank: Bank, tied: NDArray[np.bool_], weights: NDArray[np.int64]) -> NDArray[np.intp]:
    """Pick among tied sets by weight killed twice, slack, cost and ids.

    Parameters
    ----------
    bank : Bank
    tied : ndarray of bool, shape (sets, f)
        At least one a column.
    weights : ndarray of int, shape (m, f)
    """
    found: NDArray[np.intp] = tied.argmax(axis=0)
    torn = np.flatnonzero(tied.sum(axis=0) > 1)
    if len(torn):
        found[torn] = _break(bank, tied[:, torn], weights[:, torn])
    return found


def _break(bank: Bank, tied: NDArray[np.bool_], weights: NDArray[np.int64]) -> NDArray[np.intp]:
    """The same where every column has several."""
    rows = np.flatnonzero(tied.any(axis=1))
    second = np.where(tied[rows], product(bank.twice[rows], bank.summed(weights)), -1.0)
    tied = second == second.max(axis=0)
    left = np.flatnonzero(tied.any(axis=1))
    rows, tied = rows[left], tied[left]
    if np.any(tied.sum(axis=0) > 1):
        third = np.where(tied, product(bank.slack(rows), weights.astype(np.float64)), -1.0)
        tied = third == third.max(axis=0)
    found: NDArray[np.intp] = rows[tied.argmax(axis=0)]
    return found


def product(table: NDArray[Any], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Multiply in the narrowest floats in which every sum of whole weights is exact."""
    most = float(weights.sum(axis=0).max(initial=0.0)) * max(1.0, float(table.max(initial=0)))
    kind = np.float32 if most < 2**24 else np.float64
    result: NDArray[np.float64] = (table.astype(kind) @ weights.astype(kind)).astype(np.float64)
    return result
