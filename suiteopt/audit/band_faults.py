"""How wrong the faults are that a protocol accepts, and those that it rejects."""

import numpy as np
from numpy.typing import NDArray

from suiteopt.audit.critical import CriticalTable, critical_table, worst
from suiteopt.matrix.denominator import is_valid_mutant
from suiteopt.matrix.kill import kill_table
from suiteopt.matrix.schema import Statistic
from suiteopt.matrix.store import Matrix
from suiteopt.protocols import Protocol

UNIFORM = 1.05
"""A fault whose largest relative error is within this factor of its RMS error is uniform."""


class FaultErrors:
    """The errors of a problem's valid mutants on a protocol's inputs, and its verdict.

    ``uniform``: the relative error, where it is the same on every element and every input, else
    NaN. ``energy``: the largest RMS error over RMS of the truth.
    """

    def __init__(
        self, matrix: Matrix, problem: str, protocol: Protocol, columns: NDArray[np.intp]
    ) -> None:
        relative = critical_table(matrix, problem, Statistic.MAX_REL)
        energy = critical_table(matrix, problem, Statistic.TRUTH_RMS_ERROR)
        own = critical_table(matrix, problem, protocol.oracle.comparator, protocol.oracle.nonfinite)
        rows = np.flatnonzero(is_valid_mutant(matrix.implementations_of(problem)).to_numpy())
        self.names = [own.implementations[row] for row in rows]
        table = kill_table(matrix, problem, protocol.oracle)
        at = {name: row for row, name in enumerate(table.implementations)}
        places = [at[name] for name in self.names]
        self.killed = table.kills[places].toarray()[:, columns].any(axis=1)
        self.known = table.ran[places].toarray()[:, columns].all(axis=1)
        errors = energy.low[rows][:, columns]
        self.energy = np.where(np.isfinite(errors).all(axis=1), worst(errors, axis=1), np.nan)
        self.uniform = self._uniform(relative, rows, columns, errors)

    @staticmethod
    def _uniform(
        relative: CriticalTable,
        rows: NDArray[np.intp],
        columns: NDArray[np.intp],
        errors: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        largest = relative.low[rows][:, columns]
        known = np.isfinite(largest) & np.isfinite(errors) & (largest > 0)
        same = known & (largest <= UNIFORM * errors) & (errors <= UNIFORM * largest)
        spread = np.where(known, largest, np.nan)
        most, least = worst(spread, axis=1), -worst(-spread, axis=1)
        alike = same.all(axis=1) & (most <= UNIFORM * least)
        return np.where(alike, most, np.nan)

    def extreme(self, errors: NDArray[np.float64], *, accepted: bool) -> tuple[float | None, str]:
        """Return the largest accepted or the smallest rejected error, with its mutant."""
        wanted = np.isfinite(errors) & self.known & (self.killed != accepted)
        candidates = np.flatnonzero(wanted)
        if not len(candidates):
            return None, ""
        values = errors[candidates]
        best = candidates[int(values.argmax() if accepted else values.argmin())]
        return float(errors[best]), self.names[best]
