"""One problem as selection and validation see it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from suiteopt.matrix.behaviour import behaviours
from suiteopt.matrix.denominator import shows_in_output
from suiteopt.matrix.kill import KillTable
from suiteopt.matrix.layout import layout_of
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.verdict import CellBlock
from suiteopt.selection.instance import Instance
from suiteopt.selection.sites import Site, sites_of


class About:
    """What is known about the mutants of a problem, whatever judges them; made when asked for.

    Parameters
    ----------
    matrix : Matrix
    problem : str
    mutants : tuple of str
        Ids, length m.
    """

    def __init__(self, matrix: Matrix, problem: str, mutants: tuple[str, ...]) -> None:
        self._matrix, self._problem, self._mutants = matrix, problem, mutants

    @cached_property
    def families(self) -> tuple[str, ...]:
        """Family of each mutant."""
        return tuple(str(family) for family in self._details("family")["family"])

    @cached_property
    def rules(self) -> tuple[tuple[str, ...], ...]:
        """Rules of each mutant; a merged duplicate has several."""
        return tuple(tuple(str(r) for r in rules) for rules in self._details("rules")["rules"])

    @cached_property
    def sites(self) -> tuple[tuple[Site, ...], ...]:
        """Sites of each mutant."""
        return sites_of(self._matrix, self._problem, self._details("sites", "substrate"))

    @cached_property
    def substrates(self) -> tuple[str, ...]:
        """What each mutant is an edit of."""
        return tuple(str(substrate) for substrate in self._details("substrate")["substrate"])

    @cached_property
    def files(self) -> tuple[tuple[str, ...], ...]:
        """Names of the files that were edited."""
        details = self._details("sites")
        return tuple(tuple(str(site["file"]) for site in sites) for sites in details["sites"])

    @cached_property
    def behaviours(self) -> NDArray[np.int64]:
        """Behaviour of each mutant by number: equal ones are equal on every input of every pool."""
        return behaviours(self._matrix, self._problem, self._mutants)

    @cached_property
    def shows(self) -> NDArray[np.bool_]:
        """Whether each is witnessed by an exception or a wrong output, which a check could see."""
        return shows_in_output(self._details("witness_how"))

    @cached_property
    def _rows(self) -> NDArray[np.intp]:
        places = layout_of(self._matrix, self._problem).rows
        return np.array([places[name] for name in self._mutants], dtype=np.intp)

    def _details(self, *columns: str) -> pd.DataFrame:
        table = self._matrix.implementations_of(self._problem)
        return table[list(columns)].iloc[self._rows]


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


def spans(found: Sequence[Case]) -> tuple[slice, ...]:
    """Where the mutants of each problem stand among those of all."""
    starts = [int(n) for n in np.cumsum([0, *(len(case.instance.mutants) for case in found)])]
    return tuple(slice(start, stop) for start, stop in pairwise(starts))
