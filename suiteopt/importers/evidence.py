"""From the lists that tools keep of a mutant's tests to a row of outcomes."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from suiteopt.errors import UserError
from suiteopt.importers.killmap import Outcome

Row = NDArray[np.int8]


def columns(names: Collection[str], tests: Mapping[str, int], where: str) -> list[int]:
    """Return the columns of some tests.

    Raises
    ------
    UserError
        If a test is unknown.
    """
    for name in names:
        if name not in tests:
            raise UserError(f"{where} names the test {name!r}, which the report does not list")
    return [tests[name] for name in names]


def covered_row(
    width: int, covered: Sequence[int], failed: Sequence[int], completed: int | None
) -> Row:
    """Return the outcomes of a mutant whose covering tests are listed.

    Parameters
    ----------
    width : int
        Tests in all.
    covered, failed : sequence of int
        Columns; one that failed covers, listed or not.
    completed : int or None
        How many tests ran; None where it is not told.

    Returns
    -------
    ndarray of int8
        The tests outside ``covered`` never reach the mutant. Those inside passed if all of them
        ran, and are unknown otherwise: a tool that stops at the first failure does not say which
        ones it had run before.
    """
    row = np.full(width, Outcome.UNCOVERED, dtype=np.int8)
    inside = sorted({*covered, *failed})
    all_ran = set(inside) == set(failed) or (completed is not None and completed >= len(inside))
    row[inside] = Outcome.PASSED if all_ran else Outcome.UNKNOWN
    row[list(failed)] = Outcome.FAILED
    return row


def stopped_row(width: int, covered: Sequence[int], failed: Sequence[int], outcome: Outcome) -> Row:
    """Return the outcomes of a mutant under which a test hung or crashed, which ended its run.

    The test that did it is known where it is named, or where only one covers the mutant; the
    others are not.
    """
    row = np.full(width, Outcome.UNCOVERED, dtype=np.int8)
    inside = sorted({*covered, *failed})
    row[inside] = Outcome.UNKNOWN
    blamed = list(failed) if failed else inside if len(inside) == 1 else []
    row[blamed] = outcome
    return row
