"""What decides that a cell is wrong: a comparator with a tolerance and a policy."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from suiteopt.errors import UserError
from suiteopt.matrix.schema import (
    DECIDED_TOLERANCE,
    EXCEPTION_STATUSES,
    STATISTICS,
    TRUTH_STATISTICS,
    Count,
    Statistic,
    Status,
)
from suiteopt.matrix.tables import ratio_comparator

CALIBRATED_COMPARATOR = Statistic.RMS
CALIBRATED_SAFETY = 10.0
FIXED_COMPARATOR = Statistic.ALLCLOSE_CANDIDATE


class Nonfinite(StrEnum):
    """Which elements without a finite difference fail a cell, whatever the tolerance.

    Equal infinities have the difference 0 and are in none of the counts that ``torch`` and
    ``equal_nan`` look at.
    """

    TORCH = "torch"  # torch.allclose: NaN fails even if both are NaN; so does an unlike infinity
    EQUAL_NAN = "equal_nan"  # allclose(equal_nan=True): NaN in both passes
    FINITE_OUTPUT = "finite_output"  # any non-finite output fails, equal to the reference or not

    @property
    def failing(self) -> tuple[Count, ...]:
        """The counts of which one element is enough to fail."""
        return _FAILING[self]


_FAILING = {
    Nonfinite.TORCH: (Count.NAN_BOTH, Count.NAN_ONE, Count.INF_MISMATCH),
    Nonfinite.EQUAL_NAN: (Count.NAN_ONE, Count.INF_MISMATCH),
    Nonfinite.FINITE_OUTPUT: (Count.NONFINITE_OUTPUT,),
}


@dataclass(frozen=True)
class Oracle:
    """A comparator with its tolerance.

    Attributes
    ----------
    name : str
        What the user writes to get it.
    comparator : str
        A `Statistic`, or a stored ratio such as ``allclose_candidate@0.1``.
    tolerance : float or None
        In units of the comparator; None where it depends on the dtype or the input.
    by_dtype : mapping of str to float
        Tolerance by dtype, for a protocol that has several.
    safety : float or None
        Of a calibrated oracle: each input's tolerance is this many times the worst of its
        calibrating controls, and at least the input's rounding-model floor.
    nonfinite : Nonfinite
    fatal : frozenset of Status
        Statuses that fail a cell by themselves. An exception fails under every harness. An
        ``out_of_bounds`` or ``unwritten`` cell is judged by its statistics, unless the target's
        harness is said to see it.
    """

    name: str
    comparator: str
    tolerance: float | None = None
    by_dtype: Mapping[str, float] = field(default_factory=dict)
    safety: float | None = None
    nonfinite: Nonfinite = Nonfinite.TORCH
    fatal: frozenset[Status] = EXCEPTION_STATUSES

    def __post_init__(self) -> None:
        given = (self.tolerance is not None) + bool(self.by_dtype) + (self.safety is not None)
        if given != 1:
            raise ValueError("an oracle has one tolerance, one a dtype, or a safety")
        if not self.fatal >= EXCEPTION_STATUSES:
            raise ValueError("an exception fails under every oracle")

    @property
    def calibrated(self) -> bool:
        """Whether every input has a tolerance of its own."""
        return self.safety is not None

    @property
    def judges_truth(self) -> bool:
        """Whether the comparator looks at the fp64 truth and not at the own reference."""
        return self.comparator in {str(statistic) for statistic in TRUTH_STATISTICS}

    def at(self, tolerance: float) -> "Oracle":
        """Return the same oracle with this one tolerance, in units of the comparator."""
        return replace(self, tolerance=tolerance, by_dtype={}, safety=None)

    def fixed_tolerance(self, dtype: str) -> float:
        """Return the tolerance for a dtype.

        Raises
        ------
        UserError
            If the protocol has none for it.
        ValueError
            If the oracle is calibrated.
        """
        if self.calibrated:
            raise ValueError("a calibrated oracle has a tolerance for each input")
        if self.tolerance is not None:
            return self.tolerance
        if dtype not in self.by_dtype:
            raise UserError(
                f"the protocol {self.name} has no tolerance for {dtype}; "
                f"it has one for {', '.join(sorted(self.by_dtype))}"
            )
        return self.by_dtype[dtype]


def fixed(tolerance: float, comparator: str = FIXED_COMPARATOR) -> Oracle:
    """Return the oracle of one tolerance; by default ``torch.allclose(ref, out)`` at it."""
    name = "fixed" if comparator == FIXED_COMPARATOR else comparator
    return Oracle(f"{name}:{tolerance:g}", str(comparator), tolerance=tolerance)


def calibrated(safety: float = CALIBRATED_SAFETY) -> Oracle:
    """Return the oracle of one tolerance an input: max d / RMS against the worst control."""
    name = "calibrated" if safety == CALIBRATED_SAFETY else f"calibrated:{safety:g}"
    return Oracle(name, str(CALIBRATED_COMPARATOR), safety=safety)


def parse_oracle(text: str, known_protocols: Mapping[str, Oracle] | None = None) -> Oracle:
    """Return the oracle that a user means.

    Parameters
    ----------
    text : str
        ``fixed:<t>`` (``torch.allclose(ref, out, atol=t, rtol=t)``), ``<comparator>:<t>`` for
        any `Statistic` or stored ratio (``allclose_candidate@0.1:1e-3`` is atol 1e-3, rtol
        1e-4), ``calibrated``, ``calibrated:<safety>``, or a protocol's name.
    known_protocols : mapping of str to Oracle, optional

    Raises
    ------
    UserError
        If it is none of these, or its number makes no sense.
    """
    protocols = known_protocols or {}
    if text in protocols:
        return protocols[text]
    head, colon, tail = text.partition(":")
    if head == "calibrated":
        safety = _number(tail, text) if colon else CALIBRATED_SAFETY
        if safety < 1:
            raise UserError(
                f"the safety of {text!r} is below 1, which would reject the controls it is "
                "calibrated on; give 1 or more"
            )
        return calibrated(safety)
    comparator = str(FIXED_COMPARATOR) if head == "fixed" else _comparator(head)
    if comparator is None or not colon:
        raise UserError(
            f"there is no oracle {text!r}; use fixed:<tolerance>, calibrated, "
            f"calibrated:<safety>, <comparator>:<tolerance> with one of {', '.join(STATISTICS)}, "
            f"or a protocol: {', '.join(sorted(protocols)) or 'none is known'}"
        )
    return fixed(_number(tail, text), comparator)


def _comparator(text: str) -> str | None:
    if text in {str(statistic) for statistic in STATISTICS}:
        return text
    ratio = re.fullmatch(r"(allclose_candidate|allclose_reference)@([0-9][0-9.e+-]*)", text)
    if ratio is None:
        return None
    try:
        return ratio_comparator(Statistic(ratio[1]), float(ratio[2]))
    except ValueError:
        return None


def _number(text: str, whole: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise UserError(
            f"the number {text!r} in the oracle {whole!r} is no tolerance; "
            "give one that is zero or more, such as 1e-3"
        )
    return value


def refuse_decided(oracle: Oracle, cell_input: str, tolerance: float) -> UserError:
    """Return the refusal of a tolerance above what ``decided`` cells can answer."""
    most = f"{DECIDED_TOLERANCE:g}"
    return UserError(
        f"{oracle.name} cannot be answered on {cell_input}, where its tolerance is "
        f"{tolerance:.3g}: mutants that the first own draw showed to be wrong at every tolerance "
        f"up to {most} were not run on it; use a tolerance up to {most}"
    )
