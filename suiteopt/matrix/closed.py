"""Cells that did not run because their mutant was closed, or left out."""

import pandas as pd

from suiteopt.matrix.schema import CLOSING_STATUSES, FATAL_STATUSES, Status
from suiteopt.matrix.store import Matrix


def closed_cells(matrix: Matrix, problem: str) -> frozenset[tuple[str, str]]:
    """Return mutant and input of the cells that were not run, their mutant being closed.

    Whoever crashed or ran out of time on two inputs (in a confirmation: on one) is closed; it need
    not have been wrong on another.
    """
    cells = _cells(matrix, problem)
    return _pairs(cells[_with_status(cells, {Status.CLOSED})])


def costly_cells(matrix: Matrix, problem: str) -> frozenset[tuple[str, str]]:
    """Return implementation and input of the cells that crashed, timed out or were closed by that.

    Each may cost a context where it runs again. A refused launch costs none.
    """
    cells = _cells(matrix, problem)
    crashed = _with_status(cells, CLOSING_STATUSES)
    closed = _with_status(cells, {Status.CLOSED})
    by_that = cells["implementation"].isin(cells["implementation"][crashed])
    return _pairs(cells[crashed | (closed & by_that)])


def skipped_cells(matrix: Matrix, problem: str) -> frozenset[tuple[str, str]]:
    """Return mutant and input of closed cells whose mutant closed nothing: they were left out.

    A confirmation may leave out what was fatal in the suite's matrix (``--skip-fatal``).
    """
    return closed_cells(matrix, problem) - costly_cells(matrix, problem)


def fatal_implementations(matrix: Matrix, problem: str) -> frozenset[str]:
    """Return the implementations that ran and ended in an exception on some input."""
    cells = _cells(matrix, problem)
    return frozenset(cells["implementation"][_with_status(cells, FATAL_STATUSES)].astype(str))


def _cells(matrix: Matrix, problem: str) -> pd.DataFrame:
    return matrix.cells(problem, ["implementation", "input", "status"])


def _with_status(
    cells: pd.DataFrame, statuses: frozenset[Status] | set[Status]
) -> "pd.Series[bool]":
    return cells["status"].isin([str(status) for status in statuses])


def _pairs(cells: pd.DataFrame) -> frozenset[tuple[str, str]]:
    names = cells["implementation"].astype(str), cells["input"].astype(str)
    return frozenset(zip(*names, strict=True))
