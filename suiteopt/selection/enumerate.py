"""Exact selection by enumeration, with every optimum seen.

All pairs of columns come out of one matrix product: with the kills K (rows weighted),
``G = K'K`` holds what two columns share, ``|A or B| = |A| + |B| - G``, and over mutants that
nothing else kills G itself is the weight killed twice. Larger sets fix a prefix of columns,
credit its kills, and enumerate the pairs behind it, so the second objective costs nothing extra
at any size. All numbers are whole and below 2**53, so floating-point products are exact.
"""

from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suiteopt.selection.instance import Instance
from suiteopt.selection.objective import Score, better, score
from suiteopt.selection.parts import most_columns, taken

TIES_HELD = 100_000
_CHUNK_CELLS = 4_000_000
_PREFIX_WORK = 10**5  # what takes as long as to begin with a prefix


def enumeration_work(instance: Instance, budget: int) -> float:
    """Multiply-adds of an enumeration of all sizes up to a budget, an upper estimate.

    All but the last two columns of a set are gone through one by one, which costs something even
    where there is next to nothing to multiply.
    """
    columns = len(instance.inputs)
    rows = max(len(instance.mutants), 1)
    prefixes = sum(comb(columns, size - 2) for size in range(3, min(budget, columns) + 1))
    if not prefixes:
        return float(columns**2 * rows)
    return float(prefixes) * max(columns**2 * rows, _PREFIX_WORK)


def enumerate_best(instance: Instance, budget: int) -> tuple[tuple[int, ...], Score, int]:
    """Find the best set of at most ``budget`` columns by the whole lexicographic objective.

    Parameters
    ----------
    instance : Instance
    budget : int
        Non-negative.

    Returns
    -------
    columns : tuple of int
        Ascending. Shorter than the budget only where a further column would add nothing, not
        even slack.
    score : Score
    optima : int
        How many sets of exactly min(budget, n) columns reach the largest detection; where there
        are groups, n is their number.
    """
    size = min(budget, most_columns(instance))
    best: tuple[Score, tuple[int, ...]] = (score(instance, ()), ())
    optima = 1
    for count in range(1, size + 1):
        found, optima = _best_of_size(instance, count)
        best = better(best, found)
    return best[1], best[0], optima


class _Ties:
    """Sets that share the best (detected, twice) so far, thinned by slack, cost and id."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.value = -1.0
        self.held: list[NDArray[np.intp]] = []
        self.rows = 0

    def offer(self, value: float, sets: NDArray[np.intp]) -> None:
        if value < self.value:
            return
        if value > self.value:
            self.value, self.held, self.rows = value, [], 0
        self.held.append(sets)
        self.rows += len(sets)
        if self.rows > TIES_HELD:
            self.held = [self._thinned()]
            self.rows = len(self.held[0])

    def _thinned(self) -> NDArray[np.intp]:
        sets = np.concatenate(self.held)
        if len(sets) == 1:
            return sets
        instance = self.instance
        step = max(1, _CHUNK_CELLS // max(len(instance.mutants), 1))
        slack = np.empty(len(sets), dtype=np.int64)
        for start in range(0, len(sets), step):
            part = sets[start : start + step]
            best = np.repeat(instance.given_slack[:, None], len(part), axis=1)
            for position in range(part.shape[1]):
                np.maximum(best, instance.slack_by(part[:, position].tolist()), out=best)
            slack[start : start + step] = instance.weights @ best
        sets = sets[slack == slack.max()]
        costs = instance.costs[sets].sum(axis=1)
        sets = sets[costs == costs.min()]
        smallest: NDArray[np.intp] = sets[np.lexsort(sets.T[::-1])[:1]]
        return smallest

    def winner(self) -> tuple[int, ...]:
        return tuple(int(column) for column in self._thinned()[0])


def _best_of_size(instance: Instance, size: int) -> tuple[tuple[Score, tuple[int, ...]], int]:
    ties = _Ties(instance)
    most, optima = -1, 0
    scale = float(instance.total + 1)
    columns = len(instance.inputs)
    kills = instance.kills_exact()
    for prefix in combinations(range(columns), max(size - 2, 0)):
        start = prefix[-1] + 1 if prefix else 0
        if columns - start < min(size, 2) or _clash(instance, prefix):
            continue
        detected, twice = _completions(instance, kills, prefix, start, min(size, 2), most)
        if detected is None or twice is None:
            continue
        top = int(detected.max())
        if top < max(most, 0):
            continue
        tied = detected == top
        optima = int(tied.sum()) + (optima if top == most else 0)
        most = top
        second = np.where(tied, twice, -1.0)
        peak = second.max()
        places = np.argwhere(second == peak) + start
        head = np.tile(np.asarray(prefix, dtype=np.intp), (len(places), 1))
        ties.offer(top * scale + peak, np.hstack([head, places]))
    winner = ties.winner()
    return (score(instance, winner), winner), optima


def _completions(
    instance: Instance,
    kills: Any,
    prefix: tuple[int, ...],
    start: int,
    width: int,
    most: int,
) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
    """Value every single column or pair behind a prefix, or (None, None) where none can win."""
    counts = instance.counts_in_all(prefix)
    fresh, once = counts == 0, counts == 1
    detected_before = float(instance.weights[~fresh].sum())
    twice_before = float(instance.weights[counts >= 2].sum())
    single = _singles(instance, kills, fresh)[start:]
    if most >= 0 and detected_before + _largest(single, width) < most:
        return None, None
    once_single = _singles(instance, kills, once)[start:]
    if width == 1:
        return detected_before + single, twice_before + once_single
    barred = None
    if instance.groups is not None and prefix:
        barred = taken(instance, prefix)[start:]
    shared = _shared(instance, kills, fresh, start)
    detected = detected_before + single[:, None] + single[None, :] - shared
    twice = twice_before + shared
    if once.any():
        twice += once_single[:, None] + once_single[None, :]
        twice -= _shared(instance, kills, once, start)
    detected[np.tril_indices(len(single))] = -1.0
    if instance.groups is not None:
        groups = instance.groups[start:]
        detected[groups[:, None] == groups[None, :]] = -1.0
    if barred is not None:
        detected[barred] = -1.0
        detected[:, barred] = -1.0
    return detected, twice


def _singles(instance: Instance, kills: Any, rows: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Weight of some rows that each column kills."""
    weights = np.where(rows, instance.weights, 0).astype(kills.dtype)
    return np.asarray(weights @ kills, dtype=np.float64)


def _shared(
    instance: Instance, kills: Any, rows: NDArray[np.bool_], start: int
) -> NDArray[np.float64]:
    """Weight of some rows that each pair of columns, from one on, kills with both."""
    columns = len(instance.inputs) - start
    total = np.zeros((columns, columns))
    for block, part in instance.unpacked(kills):
        some = part[rows[block], start:]
        weights = instance.weights[block][rows[block], None].astype(some.dtype)
        total += (some * weights).T @ some
    return total


def _clash(instance: Instance, prefix: tuple[int, ...]) -> bool:
    """Whether two columns of a prefix exclude each other."""
    if instance.groups is None:
        return False
    return len(np.unique(instance.groups[list(prefix)])) < len(prefix)


def _largest(values: NDArray[np.float64], count: int) -> float:
    return float(np.partition(values, len(values) - count)[len(values) - count :].sum())
