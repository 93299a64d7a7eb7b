"""One problem's selection instance: plain integer arrays, so that every comparison is exact."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

SLACK_UNITS = 1000
"""Slack is counted in thousandths of a decade: whole numbers compare exactly on every machine."""

SLACK_CEILING_DECADES = 6.0
"""A kill that clears its tolerance a million times is as safe as one that clears it further."""


@dataclass(frozen=True, eq=False)
class Instance:
    """Which mutant is killed by which input, with everything that decides between equal suites.

    Columns stand in the order of their ids, so that a smaller column index is a smaller id.

    Attributes
    ----------
    problem : str
    mutants : tuple of str
        Row names, length m.
    inputs : tuple of str
        Column names, ascending, length n.
    kills : ndarray of bool, shape (m, n)
    weights : ndarray of int64, shape (m,)
        Positive. Whole numbers, so that a bound can be compared with a value without rounding.
    slack : ndarray of int32, shape (m, n)
        Thousandths of a decade by which a kill clears its tolerance; 0 where there is no kill.
    costs : ndarray of int64, shape (n,)
        Non-negative; any unit.
    given : ndarray of int8, shape (m,)
        How many inputs that are run anyway kill the mutant, counted up to 2.
    given_slack : ndarray of int32, shape (m,)
        The largest slack among those.
    groups : ndarray of int64, shape (n,), or None
        Of the columns with the same number at most one may be chosen: one input, judged by
        different comparators. None where every column is an input of its own.
    """

    problem: str
    mutants: tuple[str, ...]
    inputs: tuple[str, ...]
    kills: NDArray[np.bool_]
    weights: NDArray[np.int64]
    slack: NDArray[np.int32]
    costs: NDArray[np.int64]
    given: NDArray[np.int8]
    given_slack: NDArray[np.int32]
    groups: NDArray[np.int64] | None = None

    @property
    def total(self) -> int:
        """Weight of all mutants, killable or not."""
        return int(self.weights.sum())

    def kills_exact(self) -> Any:
        """Kills as the narrowest floats in which every sum of weights is exact, shape (m, n)."""
        return self.kills.astype(self.exact_type)

    @property
    def exact_type(self) -> type[np.float32] | type[np.float64]:
        """The narrowest floats in which every sum of weights is exact."""
        return np.float32 if self.total < 2**24 else np.float64

    @property
    def ceiling(self) -> int:
        """Weight of the mutants that the whole pool and the given inputs kill together."""
        killable = self.counts(range(len(self.inputs))) + self.given > 0
        return int(self.weights[killable].sum())

    def killed_by(self, columns: Sequence[int]) -> NDArray[np.bool_]:
        """Kills of some columns, shape (m, columns)."""
        return np.asarray(self.kills[:, list(columns)])

    def slack_by(self, columns: Sequence[int]) -> NDArray[np.int32]:
        """Slack of some columns, shape (m, columns)."""
        return np.asarray(self.slack[:, list(columns)])

    def counts(self, columns: Sequence[int]) -> NDArray[np.int64]:
        """How many of some columns kill each mutant, shape (m,)."""
        return np.asarray(self.kills[:, list(columns)].sum(axis=1), dtype=np.int64)

    def counts_in_all(self, columns: Sequence[int]) -> NDArray[np.int64]:
        """How often given inputs (up to 2) and some columns kill each mutant, shape (m,)."""
        counts: NDArray[np.int64] = self.given + self.counts(columns)
        return counts

    def killers(self) -> list[NDArray[np.intp]]:
        """Mutants that each column kills."""
        return [np.flatnonzero(self.kills[:, column]) for column in range(len(self.inputs))]

    def unpacked(self, kills: Any) -> Iterator[tuple[slice, NDArray[np.floating[Any]]]]:
        """Yield some mutants at a time, and their rows of `kills_exact` as plain arrays."""
        yield slice(None), kills

    def part(self, table: Any, columns: NDArray[np.intp]) -> Any:
        """Return some columns of kills or slack, stored as the whole is."""
        return np.ascontiguousarray(table[:, columns])


def make_instance(
    problem: str,
    mutants: Sequence[str],
    inputs: Sequence[str],
    kills: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    slack_decades: ArrayLike | None = None,
    costs: ArrayLike | None = None,
    given: ArrayLike | None = None,
    given_slack_decades: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> Instance:
    """Check, quantise and order the columns of an instance.

    Parameters
    ----------
    problem : str
    mutants : sequence of str, length m
    inputs : sequence of str, length n
        Unique, in any order.
    kills : array_like of bool, shape (m, n)
    weights : array_like of int, shape (m,), optional
        Positive whole numbers; 1 each by default.
    slack_decades : array_like of float, shape (m, n), optional
        log10(critical tolerance / tolerance); read only where there is a kill.
    costs : array_like of int, shape (n,), optional
        0 each by default.
    given, given_slack_decades : array_like, shape (m,), optional
        Kills by inputs that are run anyway, and their largest slack; none by default.
    groups : array_like of int, shape (n,), optional
        Columns of which at most one may be chosen have the same number.

    Raises
    ------
    ValueError
        If shapes disagree, names repeat, a weight is not positive or a cost is negative.
    """
    table = np.atleast_2d(np.asarray(kills, dtype=bool))
    shape = (len(mutants), len(inputs))
    if table.size == 0:
        table = np.zeros(shape, dtype=bool)
    if table.shape != shape:
        raise ValueError(f"kills has shape {table.shape}, names say {shape}")
    if len(set(inputs)) != len(inputs) or len(set(mutants)) != len(mutants):
        raise ValueError("names of mutants and of inputs must be unique")
    order: Any = sorted(range(len(inputs)), key=lambda column: inputs[column])
    if order == list(range(len(inputs))):
        order = slice(None)  # nothing is copied
    weight = _whole(weights, shape[0], 1)
    cost = _whole(costs, shape[1], 0)
    if np.any(weight <= 0) or np.any(cost < 0):
        raise ValueError("weights are positive and costs not negative")
    decades = np.zeros((1, 1)) if slack_decades is None else np.asarray(slack_decades)
    base = np.zeros(shape[0]) if given is None else np.asarray(given, dtype=float)
    base_decades = (
        np.zeros(shape[0])
        if given_slack_decades is None
        else np.asarray(given_slack_decades, dtype=float)
    )
    return Instance(
        problem=problem,
        mutants=tuple(mutants),
        inputs=tuple(sorted(inputs)),
        kills=np.ascontiguousarray(table[:, order]),
        weights=weight,
        slack=np.ascontiguousarray(_quantised(decades, table)[:, order]),
        costs=cost[order],
        given=np.clip(base, 0, 2).astype(np.int8),
        given_slack=_quantised(base_decades, base > 0),
        groups=None if groups is None else _whole(groups, shape[1], 0)[order],
    )


def _whole(values: ArrayLike | None, length: int, default: int) -> NDArray[np.int64]:
    if values is None:
        return np.full(length, default, dtype=np.int64)
    array = np.asarray(values)
    whole = array.astype(np.int64)
    if array.shape != (length,) or np.any(whole != array):
        raise ValueError(f"{length} whole numbers are needed")
    return whole


def _quantised(decades: NDArray[np.float64], where: NDArray[np.bool_]) -> NDArray[np.int32]:
    whole = np.zeros(where.shape, dtype=np.int32)
    places = np.nonzero(where)
    values = np.broadcast_to(decades, where.shape)[places].astype(np.float64)
    bounded = np.clip(np.nan_to_num(values, nan=0.0), 0.0, SLACK_CEILING_DECADES)
    whole[places] = np.floor(bounded * SLACK_UNITS)
    return whole
