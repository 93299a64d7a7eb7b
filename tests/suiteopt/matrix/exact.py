"""Statistics of an output against a reference in exact arithmetic, for tests."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

Exact = Fraction | float
"""A fraction, or infinity."""


def elements(out: Sequence[float], ref: Sequence[float]) -> list[tuple[Fraction, Fraction]]:
    """Return the pairs that are finite on both sides, exactly."""
    return [
        (Fraction(o), Fraction(r))
        for o, r in zip(out, ref, strict=True)
        if math.isfinite(o) and math.isfinite(r)
    ]


def critical(out: Sequence[float], ref: Sequence[float], scale: str) -> Exact:
    """Return max d / (1 + |scale|), with scale the candidate or the reference; 0 if empty."""
    pairs = elements(out, ref)
    chosen = [o if scale == "candidate" else r for o, r in pairs]
    return max(
        (abs(o - r) / (1 + abs(s)) for (o, r), s in zip(pairs, chosen, strict=True)),
        default=Fraction(0),
    )


def max_abs(out: Sequence[float], ref: Sequence[float]) -> Exact:
    """Return max d; 0 if there is no pair."""
    return max((abs(o - r) for o, r in elements(out, ref)), default=Fraction(0))


def max_rel(out: Sequence[float], ref: Sequence[float]) -> Exact:
    """Return max d / |ref|: infinite for d > 0 over 0, and 0 for 0 over 0."""
    return max((_ratio(abs(o - r), abs(r)) for o, r in elements(out, ref)), default=Fraction(0))


def either_or(out: Sequence[float], ref: Sequence[float]) -> Exact:
    """Return max min(d, d / |ref|)."""
    return max(
        (min(abs(o - r), _ratio(abs(o - r), abs(r))) for o, r in elements(out, ref)),
        default=Fraction(0),
    )


def counts(out: Sequence[float], ref: Sequence[float]) -> dict[str, int]:
    """Return the counts of elements without a finite difference."""
    pairs = list(zip(out, ref, strict=True))
    nan = [(math.isnan(o), math.isnan(r)) for o, r in pairs]
    return {
        "nan_both": sum(o and r for o, r in nan),
        "nan_one": sum(o != r for o, r in nan),
        "inf_mismatch": sum(
            o != r and (math.isinf(o) or math.isinf(r))
            for (o, r), either in zip(pairs, nan, strict=True)
            if not any(either)
        ),
        "nonfinite_output": sum(not math.isfinite(o) for o, _ in pairs),
    }


def columns(out: Sequence[float], ref: Sequence[float]) -> dict[str, Any]:
    """Return the exact statistics that these tests look at, as a writer takes them.

    Beyond float64's resolution they are rounded up, as one must.
    """
    values = {
        "allclose_candidate": critical(out, ref, "candidate"),
        "allclose_reference": critical(out, ref, "reference"),
        "max_abs": max_abs(out, ref),
        "max_rel": max_rel(out, ref),
        "either_or": either_or(out, ref),
    }
    finite = not any(counts(out, ref)[name] for name in ("nan_both", "nan_one", "inf_mismatch"))
    return {
        "status": "ok" if finite else "nonfinite",
        **{name: float_up(value) for name, value in values.items()},
        **counts(out, ref),
    }


def float_up(value: Exact) -> float:
    """Return the smallest float64 that is not below an exact value."""
    result = float(value)
    if math.isfinite(result) and Fraction(result) < value:
        result = math.nextafter(result, math.inf)
    return result


def _ratio(d: Fraction, scale: Fraction) -> Exact:
    if scale == 0:
        return math.inf if d > 0 else Fraction(0)
    return d / scale
