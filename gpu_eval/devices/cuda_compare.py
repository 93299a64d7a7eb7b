"""The result record of ``compare.cu`` and what it says."""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from suiteopt.matrix.schema import Count, Statistic

# Names of the fields of `struct Partial`, in its order.
MAXIMA: Final = (
    "allclose_candidate",
    "allclose_reference",
    "max_abs",
    "max_rel",
    "either_or",
    "reference_peak",
    "truth_allclose",
    "truth_abs",
)
SUMS: Final = ("reference_squares", "truth_squares", "error_squares")
COUNTERS: Final = (
    "nan_both",
    "nan_one",
    "inf_mismatch",
    "nonfinite_output",
    "unwritten",
    "own_pairs",
    "truth_pairs",
)
PARTIAL: Final = np.dtype(
    [
        ("maxima", np.float64, len(MAXIMA)),
        ("sums", np.float64, len(SUMS)),
        ("counts", np.uint64, len(COUNTERS)),
        ("hash", np.uint64),
    ]
)


def _ratio(d: float, scale: float) -> float:
    if d == 0.0:
        return 0.0
    return d / scale if scale > 0.0 else math.inf


def statistics_of(record: np.void) -> dict[Statistic, float]:
    """Return the statistics of one output tensor from its record.

    Parameters
    ----------
    record : void
        One element of an array of dtype `PARTIAL`.
    """
    maxima = dict(zip(MAXIMA, (float(v) for v in record["maxima"]), strict=True))
    sums = dict(zip(SUMS, (float(v) for v in record["sums"]), strict=True))
    counts = dict(zip(COUNTERS, (int(v) for v in record["counts"]), strict=True))
    own, true = max(counts["own_pairs"], 1), max(counts["truth_pairs"], 1)
    rms_reference = math.sqrt(sums["reference_squares"] / own)
    rms_truth = math.sqrt(sums["truth_squares"] / true)
    rms_error = math.sqrt(sums["error_squares"] / true)
    return {
        Statistic.ALLCLOSE_CANDIDATE: maxima["allclose_candidate"],
        Statistic.ALLCLOSE_REFERENCE: maxima["allclose_reference"],
        Statistic.MAX_ABS: maxima["max_abs"],
        Statistic.MAX_REL: maxima["max_rel"],
        Statistic.EITHER_OR: maxima["either_or"],
        Statistic.GLOBAL: maxima["max_abs"] / (1.0 + maxima["reference_peak"]),
        Statistic.RMS: _ratio(maxima["max_abs"], rms_reference),
        Statistic.TRUTH_ALLCLOSE: maxima["truth_allclose"],
        Statistic.TRUTH_RMS: _ratio(maxima["truth_abs"], rms_truth),
        Statistic.TRUTH_RMS_ERROR: _ratio(rms_error, rms_truth),
    }


def counts_of(records: NDArray[np.void]) -> dict[Count, int]:
    """Return the counts of non-finite elements, summed over output tensors."""
    totals = records["counts"].sum(axis=0)
    return {count: int(totals[COUNTERS.index(count.value)]) for count in Count}


def unwritten_of(records: NDArray[np.void]) -> int:
    """Return how many elements still hold the poison."""
    return int(records["counts"][:, COUNTERS.index("unwritten")].sum())


def hash_of(records: NDArray[np.void]) -> int:
    """Return one 64-bit hash over all output tensors, in their order."""
    total = 0
    for value in records["hash"]:
        total = (total * 0x9E3779B97F4A7C15 + int(value)) & 0xFFFFFFFFFFFFFFFF
    return total
