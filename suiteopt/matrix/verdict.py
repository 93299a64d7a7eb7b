"""Cells to verdicts: which of them fail under an oracle, by how much, and which are known."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suiteopt.errors import UserError
from suiteopt.matrix.checks import check_statistic, check_unique
from suiteopt.matrix.exceptions import Exceptions, has_status
from suiteopt.matrix.layout import Layout
from suiteopt.matrix.oracle import Oracle
from suiteopt.matrix.schema import MEASURED_STATUSES, Status
from suiteopt.matrix.tables import maximum_column


@dataclass(frozen=True)
class CellBlock:
    """What an oracle needs of a problem's cells, one entry a stored cell.

    Attributes
    ----------
    rows, columns : ndarray of int64
        Positions in the problem's rows of the tables of implementations and inputs.
    low, high : ndarray of float64
        Minimum and maximum over repeats of the comparator's critical tolerance; NaN where
        nothing was measured.
    fails_low, fails_high : ndarray of bool
        Whether some element fails by the non-finite policy, in every repeat and in any.
    measured : ndarray of bool
        Whether the comparator has a value.
    fatal : ndarray of bool
        Whether the status fails the cell by itself; of a ``closed`` cell, whether it would have
        been fatal at this shape.
    decided : ndarray of bool
        Whether the cell was not run because an earlier own draw decided it.
    """

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    fails_low: NDArray[np.bool_]
    fails_high: NDArray[np.bool_]
    measured: NDArray[np.bool_]
    fatal: NDArray[np.bool_]
    decided: NDArray[np.bool_]

    def take(self, places: NDArray[np.intp]) -> "CellBlock":
        """Return some of the cells."""
        return CellBlock(**{f.name: getattr(self, f.name)[places] for f in fields(self)})

    @cached_property
    def worst(self) -> NDArray[np.float64]:
        """What a control's cell asks a tolerance to be: infinite where it fails, NaN if unknown."""
        fails = self.fatal | self.fails_high | self.decided
        return np.where(fails, np.inf, np.where(self.measured, self.high, np.nan))

    @cached_property
    def order(self) -> NDArray[np.intp] | None:
        """Places of the cells by row and column; None where they stand in that order already."""
        down = np.diff(self.rows)
        if np.all((down > 0) | ((down == 0) & (np.diff(self.columns) > 0))):
            return None
        return np.lexsort((self.columns, self.rows))

    @cached_property
    def least(self) -> NDArray[np.float64]:
        """Minimum over repeats, 0 where nothing was measured."""
        return np.where(self.measured, self.low, 0.0)

    @cached_property
    def most(self) -> NDArray[np.float64]:
        """Maximum over repeats, 0 where nothing was measured."""
        return np.where(self.measured, self.high, 0.0)


def needed_columns(oracle: Oracle) -> list[str]:
    """Return the columns of a cells file that an oracle looks at."""
    names = [oracle.comparator, *(str(count) for count in oracle.nonfinite.failing)]
    return [
        "implementation",
        "input",
        "status",
        *(n for s in names for n in (s, maximum_column(s))),
    ]


def cell_block(
    table: pa.Table,
    oracle: Oracle,
    layout: Layout,
    where: str,
    exceptions: Exceptions | None = None,
) -> CellBlock:
    """Return the cells of a problem as arrays.

    Parameters
    ----------
    table : pyarrow.Table
        With `needed_columns`.
    oracle : Oracle
    layout : Layout
        Of the problem.
    where : str
        What to call the file in an error.
    exceptions : Exceptions, optional
        Those of all of the problem's cells, where ``table`` is a part of them. They say which
        ``closed`` cells count as fatal.

    Raises
    ------
    UserError
        If a cell names an implementation, an input or a status that does not exist.
    """
    for name in table.column_names:
        if name not in ("implementation", "input", "status"):
            check_statistic(table[name], name, where)
    row_codes, column_codes, status = positions_of_cells(table, layout, where)
    check_unique(row_codes, column_codes, len(layout.columns), where)
    low, high = _range(table, oracle.comparator)
    fails_low = np.zeros(table.num_rows, dtype=np.bool_)
    fails_high = np.zeros(table.num_rows, dtype=np.bool_)
    for count in oracle.nonfinite.failing:
        least, most = _range(table, str(count))
        fails_low |= least > 0
        fails_high |= most > 0
    can_measure = has_status(status, MEASURED_STATUSES)
    if exceptions is None:
        exceptions = Exceptions(layout)
        exceptions.add(row_codes, column_codes, status)
    fatal = has_status(status, oracle.fatal)
    closed = np.flatnonzero(fatal & has_status(status, {Status.CLOSED}))
    fatal[closed] = exceptions.tell_closed(row_codes[closed], column_codes[closed])
    return CellBlock(
        rows=row_codes,
        columns=column_codes,
        low=low,
        high=high,
        fails_low=fails_low & can_measure,
        fails_high=fails_high & can_measure,
        measured=can_measure & ~np.isnan(low),
        fatal=fatal,
        decided=has_status(status, {Status.DECIDED}),
    )


def positions_of_cells(
    table: pa.Table, layout: Layout, where: str
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the row, the column, and the number of the status of each cell.

    Raises
    ------
    UserError
        If a cell names what the matrix does not have.
    """
    statuses = {str(status): code for code, status in enumerate(Status)}
    return (
        _positions(table["implementation"], layout.rows, "implementation", where),
        _positions(table["input"], layout.columns, "input", where),
        _positions(table["status"], statuses, "status", where),
    )


def _range(table: pa.Table, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return minimum and maximum over repeats; a null maximum equals the minimum."""
    low = _numbers(table[name])
    high = _numbers(table[maximum_column(name)])
    return low, np.where(np.isnan(high), low, high)


def _numbers(column: pa.ChunkedArray) -> NDArray[np.float64]:
    values: NDArray[np.float64] = column.cast(pa.float64()).to_numpy()
    return values


def _positions(
    column: pa.ChunkedArray, known: Mapping[str, int], what: str, where: str
) -> NDArray[np.int64]:
    """Map words to positions by way of their dictionary: no Python for each cell."""
    if column.null_count:
        raise UserError(f"{where} has a cell without {what}; copy the matrix again")
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    whole = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    if isinstance(whole, pa.ChunkedArray):  # no chunk at all: no cells
        return np.empty(0, dtype=np.int64)
    words = whole.dictionary.to_pylist()
    codes = np.array([known.get(word, -1) for word in words], dtype=np.int64)
    if np.any(codes < 0):
        raise UserError(
            f"{where} names the {what} {words[int(np.argmin(codes))]!r}, which the matrix does "
            "not have; copy the matrix again or run `gpu-eval resume`"
        )
    result: NDArray[np.int64] = codes[whole.indices.to_numpy()]
    return result
