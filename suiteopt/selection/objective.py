"""The lexicographic objective: detection, faults killed twice, slack, cost, input id."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suiteopt.selection.instance import Instance


@dataclass(frozen=True, order=True)
class Score:
    """Value of a set of columns; the larger tuple is the better suite.

    Attributes
    ----------
    detected : int
        Weight of the mutants killed at least once, given kills included.
    twice : int
        Weight of the mutants killed at least twice: their detection survives the loss of a member.
    slack : int
        Sum over mutants of weight times the largest slack of a killer.
    thrift : int
        The negated sum of costs.
    """

    detected: int
    twice: int
    slack: int
    thrift: int


def score(instance: Instance, columns: Sequence[int]) -> Score:
    """Evaluate a set of columns from the definition.

    Parameters
    ----------
    instance : Instance
    columns : sequence of int
        Distinct column indices; may be empty.
    """
    chosen = list(columns)
    counts = instance.counts_in_all(chosen)
    return Score(
        detected=int(instance.weights[counts >= 1].sum()),
        twice=int(instance.weights[counts >= 2].sum()),
        slack=int(instance.weights @ best_slack(instance, chosen)),
        thrift=-int(instance.costs[chosen].sum()),
    )


def best_slack(instance: Instance, columns: Sequence[int]) -> NDArray[np.int64]:
    """Largest slack of a killer, by mutant; int64, shape (m,)."""
    best = instance.given_slack.astype(np.int64)
    if not len(columns):
        return best
    return np.asarray(np.maximum(best, instance.slack_by(columns).max(axis=1)), dtype=np.int64)


def better(
    first: tuple[Score, tuple[int, ...]], second: tuple[Score, tuple[int, ...]]
) -> tuple[Score, tuple[int, ...]]:
    """Return the better of two scored suites; among equal ones the smaller ids win."""
    if first[0] != second[0]:
        return first if first[0] > second[0] else second
    return first if first[1] <= second[1] else second


def strongest_first(instance: Instance, columns: Sequence[int]) -> tuple[int, ...]:
    """Order members: the one that detects most alone, then by what each adds.

    A harness that runs fewer members than it holds runs the first ones.
    """
    remaining = sorted(columns)
    ordered: list[int] = []
    while remaining:
        gains = {column: score(instance, [*ordered, column]) for column in remaining}
        best = max(gains.values())
        column = next(column for column in remaining if gains[column] == best)
        ordered.append(column)
        remaining.remove(column)
    return tuple(ordered)
