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

from suiteopt.selection.cover_search import (
    CoverTable,
    dual_bound,
    search_cover,
    without_redundant,
)
from suiteopt.selection.result import Proof

DOMINANCE_WORK = 50_000_000
"""Multiply-adds up to which all pairs of columns, or of rows, are compared for dominance."""


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
    with removal of redundant columns and exchanges, then HiGHS on what is left. A square core is
    no proof: it is solved like any other. On very large instances dominance is not looked for.

    Parameters
    ----------
    kills : csr_array or ndarray of bool, shape (m, n)
    costs : ndarray of int64, shape (n,), optional
        Positive; 1 each by default, so that the number of columns is minimised.
    seconds : float
        Wall-clock limit of the exact solver; 0 leaves it out, and the bound is what the
        reductions and one pass over the kills give.
    """
    matrix = _pattern(kills)
    price = np.ones(matrix.shape[1], dtype=np.int64) if costs is None else costs.astype(np.int64)
    if np.any(price <= 0):
        raise ValueError("costs of a cover are positive")
    core, rows, columns, fixed = _reduce(matrix, price)
    table = CoverTable(core, price[columns])
    chosen = fixed + [int(columns[column]) for column in search_cover(table)]
    paid = int(price[fixed].sum())
    bound = paid + dual_bound(table)
    if core.shape[0] and seconds > 0 and bound < price[chosen].sum():
        exact, lower = _exact(core, price[columns], seconds)
        bound = max(bound, paid + lower)
        if exact is not None:
            found = fixed + [int(columns[c]) for c in exact]
            chosen = min(chosen, found, key=lambda some: int(price[some].sum()))
    whole = CoverTable(_coverable(matrix), price)
    if fixed or len(columns) < len(price):
        chosen = without_redundant(whole, chosen)
    cost = int(price[chosen].sum())
    return Cover(tuple(sorted(chosen)), cost, min(bound, cost), (len(rows), int(core.shape[1])))


def _pattern(kills: csr_array | NDArray[np.bool_]) -> csr_array:
    """Return where there is something, as truth values; shares what it can with the argument."""
    table = csr_array(kills)
    matrix = csr_array(
        (table.data != 0, table.indices, table.indptr), shape=table.shape, copy=False
    )
    if not matrix.data.all():
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    return matrix


def _coverable(matrix: csr_array) -> csr_array:
    rows = np.flatnonzero(np.diff(matrix.indptr) > 0)
    return matrix if len(rows) == matrix.shape[0] else csr_array(matrix[rows])


def _reduce(
    matrix: csr_array, price: NDArray[np.int64]
) -> tuple[csr_array, NDArray[np.intp], NDArray[np.intp], list[int]]:
    """Core matrix, its rows and columns, and the columns that every solution may hold."""
    rows = np.flatnonzero(np.diff(matrix.indptr) > 0)
    columns = np.arange(matrix.shape[1])
    fixed: list[int] = []
    core = _coverable(matrix)
    while True:
        single = np.flatnonzero(np.diff(core.indptr) == 1)
        if len(single):
            essential = np.unique(core.indices[core.indptr[single]])
            fixed += [int(columns[column]) for column in essential]
            covered = np.isin(core.indices, essential)
            open_rows = np.add.reduceat(covered, core.indptr[:-1]) == 0
            rows, columns = rows[open_rows], np.delete(columns, essential)
            core = csr_array(matrix[rows][:, columns])
            continue
        before = core.shape
        kept = _minimal_rows(core)
        if len(kept) < len(rows):
            rows = rows[kept]
            core = csr_array(matrix[rows][:, columns])
        kept = _undominated_columns(core, price[columns])
        if len(kept) < len(columns):
            columns = columns[kept]
            core = csr_array(matrix[rows][:, columns])
        if core.shape == before:
            return core, rows, columns, fixed


def _minimal_rows(core: csr_array) -> NDArray[np.intp]:
    """Rows whose killers include those of no other row; of equal rows the first."""
    sizes = np.diff(core.indptr)
    if _pairs(csc_array(core)) > DOMINANCE_WORK:
        return np.arange(core.shape[0])
    counted = core.astype(np.int32)
    shared = csc_array(counted @ counted.T)
    keep = np.ones(core.shape[0], dtype=np.bool_)
    for row in range(core.shape[0]):
        others = shared.indices[shared.indptr[row] : shared.indptr[row + 1]]
        common = shared.data[shared.indptr[row] : shared.indptr[row + 1]]
        inside = others[(common == sizes[others]) & (others != row)]
        keep[row] = not np.any((sizes[inside] < sizes[row]) | (inside < row))
    return np.flatnonzero(keep)


def _undominated_columns(core: csr_array, price: NDArray[np.int64]) -> NDArray[np.intp]:
    """Columns that no other covers at no higher cost; of equal ones the first."""
    sizes = np.bincount(core.indices, minlength=core.shape[1])
    if _pairs(core) > DOMINANCE_WORK:
        return np.flatnonzero(sizes > 0)
    counted = core.astype(np.int32)
    shared = csc_array(counted.T @ counted)
    keep = sizes > 0
    for column in np.flatnonzero(keep):
        span = slice(shared.indptr[column], shared.indptr[column + 1])
        others, common = shared.indices[span], shared.data[span]
        over = others[(common == sizes[column]) & (others != column)]
        over = over[price[over] <= price[column]]
        strict = (sizes[over] > sizes[column]) | (price[over] < price[column])
        keep[column] = not np.any(strict | (over < column))
    return np.flatnonzero(keep)


def _pairs(table: csr_array | csc_array) -> float:
    """Multiply-adds of comparing all pairs across the lines of a compressed table."""
    return float(np.sum(np.diff(table.indptr).astype(np.float64) ** 2))


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
