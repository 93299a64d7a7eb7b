"""What a check makes of every mutant, input by input: the source of all exchange formats."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suiteopt.audit.checks import Check, check_table
from suiteopt.matrix.denominator import Denominator, denominator_mask
from suiteopt.matrix.kill import kill_table
from suiteopt.matrix.oracle import Oracle
from suiteopt.matrix.schema import EXCEPTION_STATUSES, Status
from suiteopt.matrix.store import Matrix


@dataclass(frozen=True, eq=False)
class Outcomes:
    """One problem.

    Attributes
    ----------
    problem : str
    inputs : tuple of str
        Of the check, in its order.
    mutants : tuple of str
        That count.
    kills, ran : ndarray of bool, mutants x inputs
    timeouts, crashes : ndarray of bool, mutants x inputs
        Kills by an exception.
    """

    problem: str
    inputs: tuple[str, ...]
    mutants: tuple[str, ...]
    kills: NDArray[np.bool_]
    ran: NDArray[np.bool_]
    timeouts: NDArray[np.bool_]
    crashes: NDArray[np.bool_]


def pool_check(matrix: Matrix, oracle: Oracle) -> Check:
    """Return the whole pool as a check: every input that a suite may be chosen from."""
    inputs = {}
    for problem in matrix.measured_problems:
        table = kill_table(matrix, problem, oracle)
        safe = np.flatnonzero(table.choosable)
        inputs[problem] = tuple(table.inputs[column] for column in safe)
    return Check(f"the pool under {oracle.name}", oracle, inputs)


def outcomes(matrix: Matrix, check: Check, denominator: Denominator) -> Iterator[Outcomes]:
    """Yield what a check makes of the mutants that count, problem by problem.

    Raises
    ------
    UserError
        If the matrix cannot answer the check's oracle.
    """
    for problem in check.inputs:
        table, columns = check_table(matrix, problem, check)
        rows = np.flatnonzero(denominator_mask(matrix, table, denominator))
        mutants = tuple(table.implementations[row] for row in rows)
        names = tuple(table.inputs[column] for column in columns)
        kills = np.asarray(table.kills[rows].toarray()[:, columns], dtype=np.bool_)
        stopped = {
            status: np.zeros(kills.shape, dtype=np.bool_)
            for status in (Status.TIMEOUT, *(EXCEPTION_STATUSES - {Status.TIMEOUT}))
        }
        row_of = {name: row for row, name in enumerate(mutants)}
        column_of = {name: column for column, name in enumerate(names)}
        cells = matrix.cells(problem, ["implementation", "input", "status"])
        cells = cells[cells["status"].isin([str(status) for status in stopped])]
        for name, at, status in cells.itertuples(index=False):
            if name in row_of and at in column_of:
                stopped[Status(status)][row_of[name], column_of[at]] = True
        timeouts = stopped.pop(Status.TIMEOUT) & kills
        crashes = np.logical_or.reduce(list(stopped.values())) & kills
        yield Outcomes(
            problem=problem,
            inputs=names,
            mutants=mutants,
            kills=kills,
            ran=np.asarray(table.ran[rows].toarray()[:, columns], dtype=np.bool_),
            timeouts=timeouts,
            crashes=crashes,
        )
