"""Every small suite of one problem, valued under many weightings at once.

Cross-validation solves the same instance hundreds of times with other weights: a held-out mutant
weighs nothing. All sets of at most k columns are therefore tabled once, row by row, and one matrix
product values all of them under all weightings. Sets stand in the order of (cost, ids), so that
the first maximum is the one that the specification wants.
"""

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suiteopt.selection.instance import Instance

BANK_CELLS = 40_000_000
"""Sets x mutants up to which a bank is built; one such table of float64 has 320 MB."""

_EXACT = 2.0**53
_PRODUCT_CELLS = 2_000_000  # a product that stays in the cache


@dataclass(frozen=True, eq=False)
class Bank:
    """All sets of at most k columns.

    Attributes
    ----------
    sets : tuple of tuple of int
        Ascending columns, in the order of (cost, ids).
    detected, twice : ndarray of bool, shape (sets, m)
    slack : ndarray of int32, shape (sets, m)
    """

    sets: tuple[tuple[int, ...], ...]
    detected: NDArray[np.bool_]
    twice: NDArray[np.bool_]
    slack: NDArray[np.int32]


def bank_cells(instance: Instance, budget: int) -> int:
    """Size of the tables that `make_bank` would build."""
    columns = len(instance.inputs)
    sets = sum(comb(columns, size) for size in range(min(budget, columns) + 1))
    return sets * max(1, len(instance.mutants))


def make_bank(instance: Instance, budget: int) -> Bank:
    """Table all sets of at most ``budget`` columns of an instance."""
    size = min(budget, len(instance.inputs))
    sets = [
        chosen
        for count in range(size + 1)
        for chosen in combinations(range(len(instance.inputs)), count)
    ]
    costs = {chosen: int(instance.costs[list(chosen)].sum()) for chosen in sets}
    sets.sort(key=lambda chosen: (costs[chosen], chosen))
    counts = np.tile(instance.given.astype(np.int16), (len(sets), 1))
    slack = np.tile(instance.given_slack, (len(sets), 1))
    kills, slacks = instance.kills.T.astype(np.int16), instance.slack.T
    lengths = np.array([len(chosen) for chosen in sets])
    for position in range(size):
        rows = np.flatnonzero(lengths > position)
        columns = np.array([sets[row][position] for row in rows], dtype=np.intp)
        counts[rows] += kills[columns]
        slack[rows] = np.maximum(slack[rows], slacks[columns])
    return Bank(tuple(sets), counts >= 1, counts >= 2, slack)


def best_sets(bank: Bank, weights: NDArray[np.int64]) -> NDArray[np.intp]:
    """Lexicographically best set under each weighting.

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
    tables = (bank.detected, bank.twice, bank.slack)
    most = float(weights.sum(axis=0).max(initial=0)) * max(1.0, float(bank.slack.max(initial=0)))
    kind = np.float32 if most < 2**24 else np.float64  # the narrowest in which sums are exact
    detected, twice, slack = (table.astype(kind) for table in tables)
    for start in range(0, weights.shape[1], step):
        part = weights[:, start : start + step]
        first, second, third = (_product(table, part) for table in (detected, twice, slack))
        scale = float(part.sum(axis=0).max(initial=0.0)) + 1.0
        depth = float(third.max(initial=0.0)) + 1.0
        if scale * scale * depth < _EXACT:
            value = (first * scale + second) * depth + third
        else:
            value = first * scale + second
            value = np.where(value == value.max(axis=0), third, -1.0)
        winners[start : start + step] = value.argmax(axis=0)
    return winners


def _product(table: NDArray[Any], weights: NDArray[Any]) -> NDArray[np.float64]:
    product: NDArray[np.float64] = (table @ weights.astype(table.dtype)).astype(np.float64)
    return product
