"""Cells that need not run: mutants that are fatal everywhere, own draws that are decided."""

from collections.abc import Sequence

from gpu_eval.devices.base import Outcome
from suiteopt.matrix.schema import DECIDED_TOLERANCE, MEASURED_STATUSES, STATISTICS, ShapeScope

FATAL_LIMIT = 2
"""On how many inputs a mutant crashes or runs out of time before it is closed."""

FATAL_LIMIT_CONFIRMING = 1
"""The same in a confirmation, which asks whether a suite still detects a mutant: one member that is
fatal says so, and another would cost a context only to say it again."""

FAR_OFF = 5 * DECIDED_TOLERANCE
"""What every statistic of the first own draw must exceed before the later draws are decided.

``decided`` claims a kill at every tolerance up to 0.1 for *any* statistic that a query may name,
those against fp64 included, without running. All of them are required to clear 0.1 five times
over. Most are maxima, which one lucky element could carry; `TRUTH_RMS_ERROR` is among them, the
root mean square over the whole output, so the fault must displace the bulk of the output by half
the output's own size. The later draws are of the same distribution and shape, with thousands of
elements each; a displacement of the bulk does not shrink fivefold from one such draw to the next.
A mutant that any statistic sees only faintly is run on every draw.
"""


class FatalRecord:
    """On which inputs a mutant crashed or ran out of time, by the scope of their shapes.

    A refused launch does not count: it costs no context, and says nothing of the next shape. As
    many fatal inputs as are allowed close a mutant, but a crash at an odd shape (one row, a prime
    length) says nothing of the contract's: fatal inputs of ``other`` scope close only inputs of
    that scope.
    """

    def __init__(self, strong: int = 0, other: int = 0) -> None:
        self._strong = strong
        self._other = other

    @property
    def counts(self) -> tuple[int, int]:
        """Fatal inputs so far: of the contract's or the profile's scope, and of other shapes."""
        return self._strong, self._other

    def add(self, scope: str) -> None:
        """Count a fatal input."""
        if scope == ShapeScope.OTHER:
            self._other += 1
        else:
            self._strong += 1

    def closes(self, scope: str, limit: int = FATAL_LIMIT) -> bool:
        """Tell whether an input of this scope need not run any more."""
        if self._strong >= limit:
            return True
        return scope == ShapeScope.OTHER and self._other >= limit


def far_off(outcomes: Sequence[Outcome]) -> bool:
    """Tell whether every statistic of every repeat exceeds `FAR_OFF`."""
    return all(
        outcome.status in MEASURED_STATUSES
        and all(outcome.statistics[statistic] > FAR_OFF for statistic in STATISTICS)
        for outcome in outcomes
    )
