"""The blind band of a comparator in closed form, and what rounding itself needs."""

import math
from dataclasses import dataclass

from suiteopt.matrix.schema import Statistic

UNIT_ROUNDOFF = 2.0**-24
"""Of fp32, round to nearest."""


@dataclass(frozen=True)
class OutputScale:
    """How large a reference's outputs are on one input.

    Attributes
    ----------
    largest : float
        max |ref|.
    peak : float
        max |ref| / RMS(ref).
    """

    largest: float
    peak: float


def band(comparator: str, tolerance: float, scale: OutputScale) -> float:
    r"""Return the largest relative error on *every* output element that is accepted.

    With out = (1 + e) ref and M the largest \|ref\|, a comparator accepts e up to

    =========================  ============================================
    allclose_candidate@r       t (1 + r M) / (M (1 - r t)), r = rtol/atol
    allclose_reference@r       t (1 + r M) / M
    max_abs                    t / M
    max_rel                    t
    either_or                  t / min(M, 1)
    global                     t (1 + M) / M
    rms                        t RMS(ref) / M
    =========================  ============================================

    and the largest element is the one that decides. Infinite where all outputs are 0, or where
    the candidate itself makes the tolerance wide enough.

    Raises
    ------
    ValueError
        For a comparator against the truth.
    """
    name, _, ratio_text = comparator.partition("@")
    ratio = float(ratio_text) if ratio_text else 1.0
    largest = scale.largest
    if name == Statistic.MAX_REL:
        return tolerance
    if largest == 0:
        return math.inf
    if name == Statistic.ALLCLOSE_CANDIDATE:
        room = 1.0 - ratio * tolerance
        return tolerance * (1 + ratio * largest) / (largest * room) if room > 0 else math.inf
    if name == Statistic.ALLCLOSE_REFERENCE:
        return tolerance * (1 + ratio * largest) / largest
    if name == Statistic.MAX_ABS:
        return tolerance / largest
    if name == Statistic.EITHER_OR:
        return tolerance / min(largest, 1.0)
    if name == Statistic.GLOBAL:
        return tolerance * (1 + largest) / largest
    if name == Statistic.RMS:
        return tolerance / scale.peak
    raise ValueError(f"{comparator} is no comparator against the own reference")


def root_law(length: int) -> float:
    """Return u sqrt(n): the error of n independent roundings (Higham and Mary, 2019)."""
    return UNIT_ROUNDOFF * math.sqrt(length)


def linear_law(length: int) -> float:
    """Return u n: the worst case of n roundings (Higham, Accuracy and Stability, section 3.1)."""
    return UNIT_ROUNDOFF * length
