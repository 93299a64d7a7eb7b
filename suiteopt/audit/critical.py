"""Critical tolerances of a problem's cells as one dense table."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suiteopt.matrix.layout import layout_of
from suiteopt.matrix.oracle import Nonfinite, Oracle
from suiteopt.matrix.schema import DECIDED_TOLERANCE, Kind
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.tables import cells_file
from suiteopt.matrix.verdict import cell_block, needed_columns


@dataclass(frozen=True, eq=False)
class CriticalTable:
    """The smallest tolerance at which a comparator accepts each cell of a problem.

    Attributes
    ----------
    problem, comparator : str
    implementations : tuple of str
        All of them, of every kind, in the order of their table.
    kinds : tuple of Kind
    inputs : tuple of str
        All of them, in the order of their table.
    low, high : ndarray of float64, implementations x inputs
        In the mildest and in the worst repeat. Infinite where no tolerance helps: an exception, a
        non-finite mismatch. NaN where nothing is known. Of a later own draw that was not run
        because the first was far off, the bound up to which it is known to be rejected.
    decided : ndarray of bool, implementations x inputs
        Whether only that bound is known.
    """

    problem: str
    comparator: str
    implementations: tuple[str, ...]
    kinds: tuple[Kind, ...]
    inputs: tuple[str, ...]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    decided: NDArray[np.bool_]

    def rows(self, kind: Kind) -> NDArray[np.intp]:
        """Return the positions of the implementations of a kind."""
        return np.flatnonzero([k == kind for k in self.kinds])

    def columns(self, names: tuple[str, ...]) -> NDArray[np.intp]:
        """Return the positions of some inputs."""
        positions = {name: column for column, name in enumerate(self.inputs)}
        return np.array([positions[name] for name in names], dtype=np.intp)


def critical_table(
    matrix: Matrix, problem: str, comparator: str, nonfinite: Nonfinite = Nonfinite.TORCH
) -> CriticalTable:
    """Read the critical tolerances of a problem.

    Parameters
    ----------
    matrix : Matrix
    problem : str
    comparator : str
        A `Statistic`, or a stored ratio.
    nonfinite : Nonfinite
        Which non-finite elements no tolerance forgives.

    Raises
    ------
    UserError
        If the matrix does not keep that comparator.
    """
    layout = layout_of(matrix, problem)
    names, inputs = tuple(str(name) for name in layout.ids), layout.names
    oracle = Oracle(comparator, comparator, tolerance=0.0, nonfinite=nonfinite)
    block = cell_block(
        matrix.cells_table(problem, needed_columns(oracle)),
        oracle,
        layout,
        str(matrix.path / cells_file(problem)),
    )
    beyond = np.nextafter(DECIDED_TOLERANCE, np.inf)
    low = np.where(block.measured, block.low, np.where(block.decided, beyond, np.nan))
    high = np.where(block.measured, block.high, np.where(block.decided, beyond, np.nan))
    shape = (len(names), len(inputs))
    tables = []
    for values, fails in ((low, block.fails_low), (high, block.fails_high)):
        dense = np.full(shape, np.nan)
        dense[block.rows, block.columns] = np.where(block.fatal | fails, np.inf, values)
        dense[:, ~layout.valid] = np.nan
        tables.append(dense)
    decided = np.zeros(shape, dtype=np.bool_)
    decided[block.rows, block.columns] = block.decided
    return CriticalTable(
        problem=problem,
        comparator=comparator,
        implementations=names,
        kinds=tuple(Kind(kind) for kind in layout.kinds),
        inputs=inputs,
        low=tables[0],
        high=tables[1],
        decided=decided,
    )


def worst(values: NDArray[np.float64], axis: int | None = None) -> NDArray[np.float64]:
    """Return the maximum of what is known; NaN where nothing is."""
    known = ~np.isnan(values)
    most = np.where(known, values, -np.inf).max(axis=axis, initial=-np.inf)
    return np.asarray(np.where(known.any(axis=axis), most, np.nan))
