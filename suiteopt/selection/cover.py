"""Full cover: the cheapest columns that kill whatever can be killed.

Here row dominance is valid: a mutant whose killers include all killers of another one is killed
with it. It is not valid under a budget, so it lives in this module alone.
"""

from dataclasses import dataclass
from math import floor

import numpy as np
from numpy.typing import NDArray
from scipy import optimize
from scipy.sparse import csc_array, csr_array

from suiteopt.selection.result import Proof

DOMINANCE_WORK = 50_000_000
"""Multiply-adds up to which all pairs of columns are compared for dominance."""


@dataclass(frozen=True)
class Cover:
    """A full cover and what is known about it.

    Attributes
    ----------
    columns : tuple of int
        Ascending.
    cost : int
        Sum of their costs.
    bound : int
        No full cover is cheaper.
    core : tuple of int
        Rows and columns that the reductions left for the exact solver; (0, 0) is a proof.
    """

    columns: tuple[int, ...]
    cost: int
    bound: int
    core: tuple[int, int]

    def __post_init__(self) -> None:
        if self.bound > self.cost:
            raise ValueError(f"a bound of {self.bound} cannot exceed the cost {self.cost}")

    @property
    def status(self) -> Proof:
        """Derived from cost and bound."""
        return Proof.PROVED if self.cost == self.bound else Proof.FEASIBLE


def minimum_cover(
    kills: csr_array | NDArray[np.bool_],
    costs: NDArray[np.int64] | None = None,
    seconds: float = 20.0,
) -> Cover:
    """Find a cheapest set of columns that covers every coverable row.

    Reductions (essential columns, dominated columns, dominating rows) to a fixed point, greedy
    with removal of redundant columns, then HiGHS on what is left. A square core is no proof: it
    is solved like any other.

    Parameters
    ----------
    kills : csr_array or ndarray of bool, shape (m, n)
    costs : ndarray of int64, shape (n,), optional
        Positive; 1 each by default, so that the number of columns is minimised.
    seconds : float
        Wall-clock limit of the exact solver.
    """
    matrix = csr_array(kills).astype(np.int32)
    matrix.eliminate_zeros()
    price = np.ones(matrix.shape[1], dtype=np.int64) if costs is None else costs.astype(np.int64)
    if np.any(price <= 0):
        raise ValueError("costs of a cover are positive")
    core, rows, columns, fixed = _reduce(matrix, price)
    chosen = fixed + [int(columns[column]) for column in _greedy(core, price[columns])]
    chosen = _without_redundant(matrix, price, chosen)
    paid = int(price[fixed].sum())
    bound = paid
    if core.shape[0]:
        exact, lower = _exact(core, price[columns], seconds)
        bound = paid + lower
        if exact is not None:
            found = _without_redundant(matrix, price, fixed + [int(columns[c]) for c in exact])
            if price[found].sum() < price[chosen].sum():
                chosen = found
    cost = int(price[chosen].sum())
    return Cover(tuple(sorted(chosen)), cost, min(bound, cost), (len(rows), int(core.shape[1])))


def _reduce(
    matrix: csr_array, price: NDArray[np.int64]
) -> tuple[csr_array, NDArray[np.intp], NDArray[np.intp], list[int]]:
    """Core matrix, its rows and columns, and the columns that every solution may hold."""
    rows = np.flatnonzero(np.diff(matrix.indptr) > 0)
    columns = np.arange(matrix.shape[1])
    fixed: list[int] = []
    while True:
        core = csr_array(matrix[rows][:, columns])
        before = core.shape
        single = np.flatnonzero(np.diff(core.indptr) == 1)
        if len(single):
            essential = np.unique(core.indices[core.indptr[single]])
            fixed += [int(columns[column]) for column in essential]
            covered = np.asarray(core[:, essential].sum(axis=1)).ravel() > 0
            rows, columns = rows[~covered], np.delete(columns, essential)
            continue
        rows = rows[_minimal_rows(core)]
        core = csr_array(matrix[rows][:, columns])
        columns = columns[_undominated_columns(core, price[columns])]
        if (len(rows), len(columns)) == before:
            return csr_array(matrix[rows][:, columns]), rows, columns, fixed


def _minimal_rows(core: csr_array) -> NDArray[np.intp]:
    """Rows whose killers include those of no other row; of equal rows the first."""
    sizes = np.diff(core.indptr)
    shared = csc_array(core @ core.T)
    keep = np.ones(core.shape[0], dtype=np.bool_)
    for row in range(core.shape[0]):
        others = shared.indices[shared.indptr[row] : shared.indptr[row + 1]]
        common = shared.data[shared.indptr[row] : shared.indptr[row + 1]]
        inside = others[(common == sizes[others]) & (others != row)]
        keep[row] = not np.any((sizes[inside] < sizes[row]) | (inside < row))
    return np.flatnonzero(keep)


def _undominated_columns(core: csr_array, price: NDArray[np.int64]) -> NDArray[np.intp]:
    """Columns that no other covers at no higher cost; of equal ones the first."""
    if np.sum(np.diff(core.indptr).astype(np.float64) ** 2) > DOMINANCE_WORK:
        return np.flatnonzero(np.diff(csc_array(core).indptr) > 0)
    sizes = np.diff(csc_array(core).indptr)
    shared = csc_array(core.T @ core)
    keep = sizes > 0
    for column in np.flatnonzero(keep):
        span = slice(shared.indptr[column], shared.indptr[column + 1])
        others, common = shared.indices[span], shared.data[span]
        over = others[(common == sizes[column]) & (others != column)]
        over = over[price[over] <= price[column]]
        strict = (sizes[over] > sizes[column]) | (price[over] < price[column])
        keep[column] = not np.any(strict | (over < column))
    return np.flatnonzero(keep)


def _greedy(core: csr_array, price: NDArray[np.int64]) -> list[int]:
    """Most new rows for the money, again and again; equal ratios go to the smaller column."""
    by_column = csc_array(core)
    gains = np.diff(by_column.indptr).astype(np.int64)
    open_rows = np.ones(core.shape[0], dtype=np.bool_)
    chosen = []
    while open_rows.any():
        column = int(np.argmax(gains / price))
        chosen.append(column)
        span = slice(by_column.indptr[column], by_column.indptr[column + 1])
        new = by_column.indices[span]
        new = new[open_rows[new]]
        open_rows[new] = False
        for row in new:
            gains[core.indices[core.indptr[row] : core.indptr[row + 1]]] -= 1
    return chosen


def _without_redundant(
    matrix: csr_array, price: NDArray[np.int64], columns: list[int]
) -> list[int]:
    """Drop columns, the dearest first, that the others make superfluous."""
    by_column = csc_array(matrix)
    counts = np.asarray(matrix[:, columns].sum(axis=1)).ravel()
    kept = set(columns)
    for column in sorted(columns, key=lambda c: (-int(price[c]), -c)):
        rows = by_column.indices[by_column.indptr[column] : by_column.indptr[column + 1]]
        if np.all(counts[rows] >= 2):
            counts[rows] -= 1
            kept.discard(column)
    return sorted(kept)


def _exact(
    core: csr_array, price: NDArray[np.int64], seconds: float
) -> tuple[NDArray[np.intp] | None, int]:
    result = optimize.milp(
        c=price.astype(np.float64),
        integrality=np.ones(core.shape[1], dtype=np.int64),
        bounds=optimize.Bounds(0, 1),
        constraints=optimize.LinearConstraint(core, lb=1),
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    bound = getattr(result, "mip_dual_bound", None)
    lower = 0 if bound is None or not np.isfinite(bound) else -floor(-float(bound) + 1e-6)
    columns = None if result.x is None else np.flatnonzero(result.x > 0.5)
    return columns, max(0, lower)
