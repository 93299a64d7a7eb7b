"""Parts of kill tables: what some columns do to some rows, as plain arrays."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from suiteopt.matrix.kill import KillTable
from suiteopt.matrix.schema import Kind

ROWS_AT_ONCE = 1 << 16
"""Rows of a compressed table that are cut at a time."""


def killed_by(
    table: KillTable, rows: NDArray[np.intp], columns: Sequence[int]
) -> NDArray[np.bool_]:
    """Tell which rows of a kill table some of its columns kill."""
    return np.asarray(dense_part(table.kills, rows, columns).any(axis=1), dtype=np.bool_)


def dense_part(table: csr_array, rows: NDArray[np.intp], columns: Sequence[int]) -> NDArray[Any]:
    """Return some rows and columns of a compressed table; nothing else is unpacked."""
    row_of = np.full(table.shape[0], -1, dtype=np.int32)
    row_of[rows] = np.arange(len(rows))
    column_of = np.full(table.shape[1], -1, dtype=np.int32)
    column_of[list(columns)] = np.arange(len(columns))
    where = np.repeat(row_of, np.diff(table.indptr))
    across = column_of[table.indices]
    inside = np.flatnonzero((where >= 0) & (across >= 0))
    dense = np.zeros((len(rows), len(columns)), dtype=table.dtype)
    dense[where[inside], across[inside]] = table.data[inside]
    return dense


def compressed_part(
    table: csr_array,
    rows: NDArray[np.intp],
    columns: Sequence[int],
    counted: Callable[[NDArray[Any]], NDArray[Any]],
) -> csr_array:
    """Return some rows and columns of a compressed table, compressed, its values as counted."""
    total = stored_in(table, rows, columns)
    data = np.empty(total, dtype=counted(table.data[:0]).dtype)
    indices = np.empty(total, dtype=np.int32)
    ends, taken = [np.zeros(1, dtype=np.int64)], 0
    for start in range(0, len(rows), ROWS_AT_ONCE):
        part = csr_array(csr_array(table[rows[start : start + ROWS_AT_ONCE]])[:, list(columns)])
        room = slice(taken, taken + part.nnz)
        data[room], indices[room] = counted(part.data), part.indices
        ends.append(taken + part.indptr[1:].astype(np.int64))
        taken = room.stop
    return csr_array((data, indices, np.concatenate(ends)), shape=(len(rows), len(columns)))


def stored_in(table: csr_array, rows: NDArray[np.intp], columns: Sequence[int]) -> int:
    """Count the stored entries of a compressed table in some rows and columns."""
    of_rows = np.zeros(table.shape[0], dtype=np.bool_)
    of_rows[rows] = True
    of_columns = np.zeros(table.shape[1], dtype=np.bool_)
    of_columns[list(columns)] = True
    inside = np.repeat(of_rows, np.diff(table.indptr)) & of_columns[table.indices]
    return int(np.count_nonzero(inside))


def rejected_cells(
    table: KillTable, inputs: Sequence[str], controls: NDArray[np.bool_] | None = None
) -> tuple[int, int]:
    """Count rejected and all run cells of controls on some inputs.

    Parameters
    ----------
    table : KillTable
    inputs : sequence of str
    controls : ndarray of bool, controls, optional
        Which controls; all of them by default, blind ones included.
    """
    columns = [table.inputs.index(name) for name in inputs]
    which = np.ones(len(table.controls), dtype=np.bool_) if controls is None else controls
    rejected = table.control_rejections[which][:, columns] & table.control_ran[which][:, columns]
    return int(rejected.sum()), int(table.control_ran[which][:, columns].sum())


def null_rows(table: KillTable) -> NDArray[np.intp]:
    """Rows of the implementations that do no work."""
    return table.rows(Kind.NULL)
