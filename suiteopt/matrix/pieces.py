"""A problem's cells for an oracle: at once, or some at a time where they are too many.

A pass over the cells in pieces costs reading them again and holds one piece; what is kept of all
of them is what a kill table keeps: one bit and a number a kill.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from suiteopt.matrix.exceptions import Exceptions
from suiteopt.matrix.layout import Layout, layout_of
from suiteopt.matrix.oracle import Oracle
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.tables import cells_file
from suiteopt.matrix.verdict import (
    CellBlock,
    cell_block,
    needed_columns,
    positions_of_cells,
)

LARGE_CELLS = 20_000_000
"""Implementations times inputs above which a problem is read in pieces."""


@dataclass(frozen=True, eq=False)
class CellPieces:
    """A problem's cells in ascending order, read again whenever they are iterated over.

    Attributes
    ----------
    matrix : Matrix
    problem : str
    oracle : Oracle
    exceptions : Exceptions
        Of all cells of the file.
    count : int
        Number of cells.
    """

    matrix: Matrix
    problem: str
    oracle: Oracle
    exceptions: Exceptions
    count: int

    def __iter__(self) -> Iterator[CellBlock]:
        layout = layout_of(self.matrix, self.problem)
        where = str(self.matrix.path / cells_file(self.problem))
        for table in self.matrix.cells_parts(self.problem, needed_columns(self.oracle)):
            yield cell_block(table, self.oracle, layout, where, self.exceptions)


def is_large(layout: Layout) -> bool:
    """Whether a problem is beyond tables of implementations x inputs."""
    return len(layout.ids) * len(layout.names) > LARGE_CELLS


def load_block(matrix: Matrix, problem: str, oracle: Oracle) -> CellBlock:
    """Return what an oracle needs of a problem's cells.

    One block answers every oracle of the same comparator, non-finite policy and fatal statuses,
    so that many tolerances or sets of controls cost one reading.

    Raises
    ------
    UserError
        If the comparator is not stored, or a file is missing or damaged.
    """
    layout = layout_of(matrix, problem)
    return cell_block(
        matrix.cells_table(problem, needed_columns(oracle)),
        oracle,
        layout,
        str(matrix.path / cells_file(problem)),
    )


def load_cells(matrix: Matrix, problem: str, oracle: Oracle) -> Iterable[CellBlock]:
    """Return a problem's cells: one block, or pieces of a large problem.

    Cells that do not stand in the order of the format are read at once, whatever their number.

    Raises
    ------
    UserError
        As `load_block`.
    """
    layout = layout_of(matrix, problem)
    if is_large(layout):
        exceptions, count = _first_pass(matrix, problem, layout)
        if exceptions is not None:
            return CellPieces(matrix, problem, oracle, exceptions, count)
    return (load_block(matrix, problem, oracle),)


def some_rows(cells: Iterable[CellBlock], rows: NDArray[np.bool_]) -> CellBlock:
    """Return the cells of some implementations as one block."""
    found = [block.take(np.flatnonzero(rows[block.rows])) for block in cells]
    return CellBlock(
        **{
            field.name: np.concatenate([getattr(block, field.name) for block in found])
            for field in fields(CellBlock)
        }
    )


def _first_pass(matrix: Matrix, problem: str, layout: Layout) -> tuple[Exceptions | None, int]:
    """Which exceptions there are, None where cells are out of order; and how many cells."""
    exceptions = Exceptions(layout)
    where = str(matrix.path / cells_file(problem))
    reached, count = -1, 0
    for table in matrix.cells_parts(problem, ["implementation", "input", "status"]):
        rows, columns, status = positions_of_cells(table, layout, where)
        places = rows * len(layout.names) + columns
        if len(places) and (places[0] <= reached or np.any(np.diff(places) <= 0)):
            return None, 0
        count += len(places)
        reached = int(places[-1]) if len(places) else reached
        exceptions.add(rows, columns, status)
    return exceptions, count
