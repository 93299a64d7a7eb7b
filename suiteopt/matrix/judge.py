"""One problem's cells against tolerances: kills, rejections, what is known, and by how much."""

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from suiteopt.matrix.oracle import Oracle, refuse_decided
from suiteopt.matrix.rounding import round_up_12
from suiteopt.matrix.schema import DECIDED_TOLERANCE
from suiteopt.matrix.verdict import CellBlock

S = TypeVar("S", bound=np.generic)

SLACK_LIMIT = 6.0
"""Largest slack, in decades: of exceptions, non-finite mismatches, and kills at tolerance 0."""

SLACK_LEAST = 1e-4
"""Slack of a kill of which only a lower bound is known (``decided``) that is not above it."""


@dataclass(frozen=True)
class Verdict:
    """What an oracle says of each stored cell.

    Attributes
    ----------
    kills : ndarray of bool, cells
        Rejected in every repeat: how a mutant is judged.
    rejected : ndarray of bool, cells
        Rejected in some repeat: how a control is judged.
    known : ndarray of bool, cells
        Whether the stored cell answers the query.
    slack : ndarray of float32, cells
        Decades by which a kill clears the tolerance; 0 elsewhere.
    """

    kills: NDArray[np.bool_]
    rejected: NDArray[np.bool_]
    known: NDArray[np.bool_]
    slack: NDArray[np.float32]


def judge(
    block: CellBlock,
    oracle: Oracle,
    tolerances: NDArray[np.float64],
    valid: NDArray[np.bool_],
    names: tuple[str, ...],
) -> Verdict:
    """Judge every stored cell of a problem.

    Parameters
    ----------
    block : CellBlock
    oracle : Oracle
    tolerances : ndarray of float64, inputs
    valid : ndarray of bool, inputs
        Nothing is a kill or a rejection on an input that is not.
    names : tuple of str
        Ids of the inputs.

    Raises
    ------
    UserError
        If a ``decided`` cell does not answer the tolerance that a fixed oracle names. Where a
        calibrated one goes beyond, the cell counts as no kill and as unknown.
    """
    tolerance = tolerances[block.columns]
    counts = valid[block.columns]
    decided = block.decided & counts & np.isfinite(tolerance)
    beyond = decided & (tolerance > DECIDED_TOLERANCE)
    if oracle.calibrated:
        # Nobody chose that tolerance, controls need it: what was not run there is no kill.
        decided &= ~beyond
    elif beyond.any():
        column = int(block.columns[np.flatnonzero(beyond)[0]])
        raise refuse_decided(oracle, names[column], float(tolerances[column]))
    low, high = block.least, block.most
    outright = (block.fatal | block.fails_low) & counts
    above = block.measured & counts & (low > round_up_12(tolerances)[block.columns])
    clears = np.flatnonzero(above | decided)
    reached = np.where(decided[clears], DECIDED_TOLERANCE, low[clears])
    with np.errstate(divide="ignore", invalid="ignore"):
        decades = np.log10(reached / tolerance[clears])
    slack = np.zeros(len(low))
    slack[clears] = np.clip(decades, SLACK_LEAST, SLACK_LIMIT)
    return Verdict(
        kills=outright | above | decided,
        rejected=counts
        & (block.fatal | block.fails_high | decided | (block.measured & (high > tolerance))),
        known=counts
        & (block.fatal | block.fails_low | decided | (block.measured & np.isfinite(tolerance))),
        slack=np.where(outright, SLACK_LIMIT, slack).astype(np.float32),
    )


def tolerances_in_force(
    oracle: Oracle,
    floors: NDArray[np.float64],
    dtype: str,
    block: CellBlock,
    calibrating: NDArray[np.intp],
    shape: tuple[int, int],
) -> NDArray[np.float64]:
    """Return the tolerance of every input.

    Parameters
    ----------
    oracle : Oracle
    floors : ndarray of float64, inputs
        No calibrated tolerance is below: the rounding model's.
    dtype : str
        The problem's.
    block : CellBlock
    calibrating : ndarray of int
        Rows of the controls that calibrate.
    shape : tuple of int
        Numbers of implementations and inputs.

    Returns
    -------
    ndarray of float64, inputs
        Infinite where a calibrated oracle has no control that ran, or one that failed outright.
    """
    if oracle.safety is None:
        return np.full(len(floors), oracle.fixed_tolerance(dtype))
    dense = dense_of(block.worst, block, calibrating, shape, np.nan)
    ran = ~np.isnan(dense)
    most = np.where(ran, dense, -np.inf).max(axis=0, initial=-np.inf)
    tolerances = np.maximum(oracle.safety * np.maximum(most, 0.0), floors)
    return np.where(ran.any(axis=0), tolerances, np.inf)


def dense_of(
    values: NDArray[S],
    block: CellBlock,
    rows: NDArray[np.intp],
    shape: tuple[int, int],
    absent: float = 0.0,
) -> NDArray[S]:
    """Return values of the stored cells of some rows as a table of rows x inputs."""
    place = np.full(shape[0], -1, dtype=np.intp)
    place[rows] = np.arange(len(rows))
    where = place[block.rows]
    inside = np.flatnonzero(where >= 0)
    dense = np.full((len(rows), shape[1]), absent, dtype=values.dtype)
    dense[where[inside], block.columns[inside]] = values[inside]
    return dense


def share_places(table: csr_array, other: csr_array) -> None:
    """Let a table keep the places of another one where they are the same."""
    if np.array_equal(table.indptr, other.indptr) and np.array_equal(table.indices, other.indices):
        table.indices, table.indptr = other.indices, other.indptr


class SparseRows:
    """Values of the stored cells of some rows, in compressed rows; no table in between.

    Parameters
    ----------
    rows : ndarray of bool, implementations
        Rows of the result.
    shape : tuple of int
        Numbers of implementations and inputs.
    cells : int
        The most values that will come. Room for them is asked for at once, and costs memory only
        as it is filled: pieces that are put together at the end would need it twice.
    kind : type
        Of the values.
    """

    def __init__(
        self,
        rows: NDArray[np.bool_],
        shape: tuple[int, int],
        cells: int,
        kind: type[np.bool_] | type[np.float32],
    ) -> None:
        self._rows, self._width, self._taken = rows, shape[1], 0
        self._counts = np.zeros(shape[0], dtype=np.int64)
        self._values = np.empty(cells, dtype=kind)
        self._columns = np.empty(cells, dtype=np.int32)

    def add(self, values: NDArray[Any], block: CellBlock) -> None:
        """Take the values that are not 0; blocks come in the order of their cells."""
        chosen = (values != 0) & self._rows[block.rows]
        order = block.order
        places = np.flatnonzero(chosen) if order is None else order[chosen[order]]
        self._counts += np.bincount(block.rows[places], minlength=len(self._rows))
        room = slice(self._taken, self._taken + len(places))
        self._values[room] = values[places]
        self._columns[room] = block.columns[places]
        self._taken = room.stop

    def table(self) -> csr_array:
        """Return what was taken."""
        ends = np.concatenate([[0], self._counts[self._rows].cumsum()])
        values, columns = self._values[: self._taken], self._columns[: self._taken]
        return csr_array((values, columns, ends), shape=(len(ends) - 1, self._width))
