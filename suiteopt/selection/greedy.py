"""Lazy greedy, one-for-one exchanges, and the bound that submodularity gives for nothing."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suiteopt.selection.instance import Instance
from suiteopt.selection.objective import Score, best_slack, better, score
from suiteopt.selection.parts import taken

_AT_ONCE = 32
"""Columns whose slack is looked at together."""


def lazy_greedy(instance: Instance, budget: int) -> tuple[int, ...]:
    """Add the column that detects most of what is left, until nothing is gained.

    A gain can only shrink, so a column is valued again only when it reaches the top of the heap
    (Minoux's accelerated greedy). Equal gains go to the smaller id.

    Returns
    -------
    tuple of int
        In the order of choice.
    """
    killers = instance.killers()
    open_weight = np.where(instance.given == 0, instance.weights, 0)
    heap = [(-int(open_weight[rows].sum()), column) for column, rows in enumerate(killers)]
    heapq.heapify(heap)
    chosen: list[int] = []
    while heap and len(chosen) < budget:
        stale, column = heapq.heappop(heap)
        gain = int(open_weight[killers[column]].sum())
        if gain != -stale:
            heapq.heappush(heap, (-gain, column))
            continue
        if gain == 0:
            break
        if instance.groups is not None and taken(instance, chosen)[column]:
            continue
        chosen.append(column)
        open_weight[killers[column]] = 0
    return tuple(chosen)


def improve(instance: Instance, columns: Sequence[int], budget: int) -> tuple[int, ...]:
    """Fill up, exchange one column for another, and drop idle ones, until nothing is gained.

    Every step strictly improves the whole lexicographic objective, so the result is never worse
    than the start, and the search ends.

    Returns
    -------
    tuple of int
        Ascending.
    """
    kills = instance.kills_exact()
    current = tuple(sorted(columns))
    value = score(instance, current)
    while True:
        before = current
        if len(current) < budget:
            value, current = better((value, current), _best_addition(instance, kills, current))
        state, of = _State.of(instance, kills, current), current
        for leaver in current:
            if current != of:
                state, of = _State.of(instance, kills, current), current
            if leaver in current and _may_leave(instance, kills, current, leaver, state):
                base = tuple(column for column in current if column != leaver)
                shrunk = (score(instance, base), base)
                step = better(shrunk, _best_addition(instance, kills, base))
                value, current = better((value, current), step)
        if current == before:
            return current


@dataclass(frozen=True, eq=False)
class _State:
    """How often each mutant is killed by a suite, and what each column would add to it."""

    counts: NDArray[np.int64]
    gains: NDArray[np.floating[Any]]

    @classmethod
    def of(cls, instance: Instance, kills: Any, columns: tuple[int, ...]) -> "_State":
        counts = instance.counts_in_all(columns)
        return cls(counts, _weights(instance, counts == 0, kills) @ kills)


def _may_leave(
    instance: Instance,
    kills: Any,
    current: tuple[int, ...],
    leaver: int,
    state: _State,
) -> bool:
    """Whether some other column makes up for what only ``leaver`` kills: cheap and exact."""
    solo = np.flatnonzero((state.counts == 1) & instance.killed_by([leaver])[:, 0])
    if not len(solo):
        return True
    loss = float(instance.weights[solo].sum())
    regained = state.gains + instance.weights[solo].astype(kills.dtype) @ kills[solo]
    regained[list(current)] = 0
    return bool(regained.max() >= loss)


def _best_addition(
    instance: Instance, kills: Any, base: tuple[int, ...]
) -> tuple[Score, tuple[int, ...]]:
    """Best set of one column more, by the whole objective; the set itself if none is left."""
    allowed = np.flatnonzero(~taken(instance, base))
    if not len(allowed):
        return score(instance, base), base
    counts = instance.counts_in_all(base)
    for level in (0, 1):
        gains = (_weights(instance, counts == level, kills) @ kills)[allowed]
        allowed = allowed[gains == gains.max()]
    rest = best_slack(instance, base)[:, None]
    slack = np.concatenate(
        [
            instance.weights @ np.maximum(rest, instance.slack_by(some.tolist()))
            for some in np.array_split(allowed, -(-len(allowed) // _AT_ONCE))
        ]
    )
    allowed = allowed[slack == slack.max()]
    costs = instance.costs[allowed]
    whole = tuple(sorted([*base, int(allowed[costs == costs.min()][0])]))
    return score(instance, whole), whole


def _weights(instance: Instance, rows: NDArray[np.bool_], kills: Any) -> NDArray[np.floating[Any]]:
    return np.where(rows, instance.weights, 0).astype(kills.dtype)


def submodular_bound(instance: Instance, columns: Sequence[int], budget: int) -> int:
    """Bound the detection of every set of at most ``budget`` columns from above.

    For a monotone submodular f and any set S: f(T) <= f(S) + the sum of the |T| largest gains
    over S (Nemhauser, Wolsey and Fisher 1978). Never above what the whole pool detects.
    """
    gains = marginal_gains(instance, columns)
    width = min(budget, len(gains))
    largest = np.sort(gains)[len(gains) - width :].sum()
    return min(instance.ceiling, score(instance, columns).detected + int(largest))


def marginal_gains(instance: Instance, columns: Sequence[int]) -> NDArray[np.int64]:
    """Weight that each column would add to a set; int64, shape (n,)."""
    kills = instance.kills_exact()
    open_weight = _weights(instance, instance.counts_in_all(columns) == 0, kills)
    return np.asarray(open_weight @ kills, dtype=np.int64)
