"""Behavioural duplicates: mutants whose cells are equal on every input of both pools."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suiteopt.matrix.checks import check_statistic
from suiteopt.matrix.layout import layout_of
from suiteopt.matrix.pieces import is_large
from suiteopt.matrix.schema import COUNTS, Status
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.tables import cells_file, comparators, maximum_column


def behaviours(matrix: Matrix, problem: str, implementations: Sequence[str]) -> NDArray[np.int64]:
    """Return a group number for each implementation: equal numbers, equal cells.

    Cells are equal when status, statistics and counts are; "not run" equals only "not run".
    Inputs of all roles are looked at, the witness pool included. Rows are compared by a 64-bit
    hash of all their cells.

    Parameters
    ----------
    matrix : Matrix
    problem : str
    implementations : sequence of str
        Ids of implementations of the problem.

    Returns
    -------
    ndarray of int64, implementations
        Numbered from 0 in the order of first appearance.
    """
    names = [*comparators(matrix.meta.ratios), *(str(count) for count in COUNTS)]
    names += [maximum_column(name) for name in names]
    columns_read = ["implementation", "input", "status", *names]
    layout = layout_of(matrix, problem)
    places = {name: row for row, name in enumerate(implementations)}
    sums = np.zeros(len(implementations), dtype=np.uint64)
    parts: Iterable[pa.Table] = (
        matrix.cells_parts(problem, columns_read)
        if is_large(layout)
        else [matrix.cells_table(problem, columns_read)]
    )
    for cells in parts:
        rows = _codes(cells["implementation"], places)
        columns = _codes(cells["input"], layout.columns)
        known = np.flatnonzero(rows >= 0)
        hashes = _hashes(cells, names, str(matrix.path / cells_file(problem)))
        placed = _mixed(hashes[known] ^ _mixed(columns[known].view(np.uint64)))
        np.add.at(sums, rows[known], placed)  # whatever the order of the cells
    _, first, group = np.unique(sums, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))
    return np.asarray(order[group.reshape(-1)], dtype=np.int64)


def _codes(column: pa.ChunkedArray, known: Mapping[str, int]) -> NDArray[np.int64]:
    """Positions of words, by way of their dictionary; -1 for one that is not known."""
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # of one chunk, or of none
        whole = whole.chunk(0) if whole.num_chunks else None
    if whole is None:
        return np.empty(0, dtype=np.int64)
    words = whole.dictionary.to_pylist()
    codes = np.array([*(known.get(word, -1) for word in words), -1], dtype=np.int64)
    found: NDArray[np.int64] = codes[whole.indices.fill_null(len(words)).to_numpy()]
    return found


def _hashes(cells: pa.Table, names: Sequence[str], where: str) -> NDArray[np.uint64]:
    """One number a cell, from the bits of its status and of all its figures."""
    places = {str(status): place for place, status in enumerate(Status)}
    mixed = _mixed(_codes(cells["status"], places).view(np.uint64))
    for name in names:
        check_statistic(cells[name], name, where)
        values = cells[name].cast(pa.float64()).to_numpy()  # nulls become NaN, one bit pattern
        mixed = _mixed(mixed ^ np.ascontiguousarray(values).view(np.uint64))
    return mixed


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread every bit over all others: the finaliser of SplitMix64 (Steele and others 2014)."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    spread: NDArray[np.uint64] = mixed ^ (mixed >> np.uint64(31))
    return spread
