"""Cells that did not run because their mutant was closed, or left out."""

from suiteopt.matrix.schema import CLOSING_STATUSES, FATAL_STATUSES, Status
from suiteopt.matrix.store import Matrix


def closed_cells(matrix: Matrix, problem: str) -> frozenset[tuple[str, str]]:
    """Return mutant and input of the cells that were not run, their mutant being closed.

    Whoever crashed or ran out of time on two inputs (in a confirmation: on one) is closed; it need
    not have been wrong on another.
    """
    cells = matrix.cells(problem, ["implementation", "input", "status"])
    closed = cells[cells["status"] == str(Status.CLOSED)]
    names = closed["implementation"].astype(str), closed["input"].astype(str)
    return frozenset(zip(*names, strict=True))


def fatal_implementations(matrix: Matrix, problem: str) -> frozenset[str]:
    """Return the implementations that ran and ended in an exception on some input."""
    return _ended(matrix, problem, FATAL_STATUSES)


def closing_implementations(matrix: Matrix, problem: str) -> frozenset[str]:
    """Return the implementations that crashed or ran out of time on some input."""
    return _ended(matrix, problem, CLOSING_STATUSES)


def _ended(matrix: Matrix, problem: str, ways: frozenset[Status]) -> frozenset[str]:
    cells = matrix.cells(problem, ["implementation", "status"])
    happened = cells["status"].isin([str(status) for status in ways])
    return frozenset(cells["implementation"][happened].astype(str))


def skipped_cells(matrix: Matrix, problem: str) -> frozenset[tuple[str, str]]:
    """Return mutant and input of closed cells whose mutant closed nothing: they were left out.

    A confirmation may leave out what was fatal in the suite's matrix (``--skip-fatal``).
    """
    closing = closing_implementations(matrix, problem)
    return frozenset(cell for cell in closed_cells(matrix, problem) if cell[0] not in closing)
