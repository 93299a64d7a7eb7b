"""Cells that did not run because their mutant was closed, or left out."""

from suiteopt.matrix.schema import FATAL_STATUSES, Status
from suiteopt.matrix.store import Matrix


def closed_cells(matrix: Matrix, problem: str) -> frozenset[tuple[str, str]]:
    """Return mutant and input of the cells that were not run, their mutant being closed.

    Whoever was fatal on two inputs (in a confirmation: on one) is closed; it need not have been
    wrong on another.
    """
    cells = matrix.cells(problem, ["implementation", "input", "status"])
    closed = cells[cells["status"] == str(Status.CLOSED)]
    names = closed["implementation"].astype(str), closed["input"].astype(str)
    return frozenset(zip(*names, strict=True))


def fatal_implementations(matrix: Matrix, problem: str) -> frozenset[str]:
    """Return the implementations that ran and ended in an exception on some input."""
    cells = matrix.cells(problem, ["implementation", "status"])
    happened = [str(status) for status in FATAL_STATUSES]
    return frozenset(cells["implementation"][cells["status"].isin(happened)].astype(str))


def skipped_cells(matrix: Matrix, problem: str) -> frozenset[tuple[str, str]]:
    """Return mutant and input of closed cells whose mutant was fatal nowhere: they were left out.

    A confirmation may leave out what was fatal in the suite's matrix (``--skip-fatal``).
    """
    fatal = fatal_implementations(matrix, problem)
    return frozenset(cell for cell in closed_cells(matrix, problem) if cell[0] not in fatal)
