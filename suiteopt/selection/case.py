"""One problem as selection and validation see it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suiteopt.matrix.kill import KillTable
from suiteopt.matrix.verdict import CellBlock
from suiteopt.selection.instance import Instance
from suiteopt.selection.sites import Site


@dataclass(frozen=True, eq=False)
class About:
    """What is known about the mutants of a problem, whatever judges them.

    Attributes
    ----------
    families : tuple of str
    rules : tuple of tuple of str
    sites : tuple of tuple of Site
    substrates : tuple of str
        What each mutant is an edit of.
    files : tuple of tuple of str
        Names of the files that were edited.
    behaviours : ndarray of int64, shape (m,)
        Equal numbers behave equally on every input of every pool.
    shows : ndarray of bool, shape (m,)
        Witnessed by an exception or a wrong output, which a check of outputs could see.
    """

    families: tuple[str, ...]
    rules: tuple[tuple[str, ...], ...]
    sites: tuple[tuple[Site, ...], ...]
    substrates: tuple[str, ...]
    files: tuple[tuple[str, ...], ...]
    behaviours: NDArray[np.int64]
    shows: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Case:
    """One problem as selection and validation see it; rows are the mutants that count.

    Attributes
    ----------
    problem : str
    table : KillTable
    instance : Instance
        Columns are the choosable inputs that the target can carry. Where the harness runs its own
        draws first, these are credited and no columns.
    about : About
    own : ndarray of bool, shape (m,), or None
        Killed by one of the benchmark's first five own draws, at the oracle in force; None where
        the matrix does not have them.
    first_own : ndarray of bool, shape (m,), or None
        Killed by the first of them.
    unknown_cells : int
        Cells of these mutants and columns that were not run, and count as no kill.
    own_inputs : tuple of str or None
        Ids of the own draws.
    given : tuple of str
        Ids of the inputs that the harness runs anyway.
    flaky_cells : int
        Cells of these mutants and columns that the oracle rejects in some repeat, but not in all.
    block : CellBlock or None
        The cells, for other tolerances of the same comparator.
    """

    problem: str
    table: KillTable
    instance: Instance
    about: About
    own: NDArray[np.bool_] | None
    first_own: NDArray[np.bool_] | None
    unknown_cells: int
    own_inputs: tuple[str, ...] | None = None
    given: tuple[str, ...] = ()
    flaky_cells: int = 0
    block: CellBlock | None = None

    @property
    def families(self) -> tuple[str, ...]:
        """Family of each mutant."""
        return self.about.families

    @property
    def rules(self) -> tuple[tuple[str, ...], ...]:
        """Rules of each mutant; a merged duplicate has several."""
        return self.about.rules

    @property
    def sites(self) -> tuple[tuple[Site, ...], ...]:
        """Sites of each mutant."""
        return self.about.sites

    @property
    def substrates(self) -> tuple[str, ...]:
        """Substrate of each mutant."""
        return self.about.substrates

    @property
    def behaviours(self) -> NDArray[np.int64]:
        """Behaviour of each mutant, by number."""
        return self.about.behaviours

    @property
    def shows(self) -> NDArray[np.bool_]:
        """Whether each mutant shows in an output."""
        return self.about.shows

    def rows_of(self, table: KillTable) -> NDArray[np.intp]:
        """Rows of these mutants in a kill table of the same problem."""
        return rows_of(table, self.instance.mutants)


def rows_of(table: KillTable, mutants: Sequence[str]) -> NDArray[np.intp]:
    """Return the rows of some mutants in a kill table."""
    positions = {name: row for row, name in enumerate(table.implementations)}
    return np.array([positions[name] for name in mutants], dtype=np.intp)
