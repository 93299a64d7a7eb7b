"""Where implementations ended in exceptions, and what that says of cells that did not run."""

import numpy as np
from numpy.typing import NDArray

from suiteopt.matrix.layout import Layout
from suiteopt.matrix.schema import CLOSING_STATUSES, Status


class Exceptions:
    """The crashes, timeouts and refused launches of a problem, collected from its cells.

    A launch depends on nothing but the shape: one that was refused is refused again at the same
    shape, and need not be at the next. Who crashed or ran out of time is taken to do so on every
    input, at other shapes than the contract's or the profile's only where it did on one of these.

    Parameters
    ----------
    layout : Layout
        Of the problem.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._shapes = int(layout.shapes.max(initial=-1)) + 1
        # By row; the last axis: the contract's or the profile's shape, another one.
        self._crashed = np.zeros((len(layout.ids), 2), dtype=np.bool_)
        self._refused = np.zeros((len(layout.ids), 2), dtype=np.bool_)
        self._refused_at: list[NDArray[np.int64]] = []

    def add(
        self, rows: NDArray[np.int64], columns: NDArray[np.int64], status: NDArray[np.int64]
    ) -> None:
        """Take in some cells: their rows, columns, and numbers of their statuses."""
        odd = self._layout.varied[columns].astype(np.intp)
        crash = has_status(status, CLOSING_STATUSES)
        self._crashed[rows[crash], odd[crash]] = True
        refused = has_status(status, {Status.LAUNCH_ERROR})
        self._refused[rows[refused], odd[refused]] = True
        self._refused_at.append(np.unique(self._places(rows[refused], columns[refused])))

    def tell_closed(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which closed cells are kills.

        On the contract's or the profile's shapes all are but those that refused launches alone
        have closed there; on others those whose mutant crashed or timed out on one of these.
        Wherever its launch was refused at the same shape it is one.
        """
        odd = self._layout.varied[columns]
        by_launches = self._refused[rows, 0] & ~self._crashed[rows, 0]
        taken = np.where(odd, self._crashed[rows, 1], ~by_launches)
        at = np.concatenate([np.empty(0, dtype=np.int64), *self._refused_at])
        result: NDArray[np.bool_] = taken | np.isin(self._places(rows, columns), at)
        return result

    def _places(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return one number for each implementation and shape."""
        return rows * self._shapes + self._layout.shapes[columns]


def has_status(
    codes: NDArray[np.int64], statuses: frozenset[Status] | set[Status]
) -> NDArray[np.bool_]:
    """Tell which numbers of statuses are those of some."""
    return np.array([status in statuses for status in Status])[codes]
