"""Rounding up to 12 significant bits, the resolution of every stored statistic."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

SIGNIFICANT_BITS = 12


def round_up_12(values: ArrayLike) -> NDArray[np.float32]:
    """Round non-negative numbers up to 12 significant bits.

    Monotone, and never below its argument: ``x <= round_up_12(x) <= x * (1 + 2**-11)`` for
    normal float32 results. So ``stored > round_up_12(t)`` implies ``exact > t`` (no kill is
    invented) and ``exact > t`` implies ``stored > t`` (no rejection is missed).

    Parameters
    ----------
    values : array_like of float
        Non-negative, infinity allowed.

    Returns
    -------
    ndarray of float32
        Values beyond float32's range become infinity; positive values below the smallest normal
        float32 become that number.

    Raises
    ------
    ValueError
        If a value is negative or NaN.
    """
    exact = np.asarray(values, dtype=np.float64)
    if np.any(np.isnan(exact)) or np.any(exact < 0):
        raise ValueError("a critical tolerance is neither negative nor NaN")
    finite = np.isfinite(exact)
    mantissa, exponent = np.frexp(np.where(finite, exact, 0.0))
    whole = np.ceil(np.ldexp(mantissa, SIGNIFICANT_BITS))
    with np.errstate(over="ignore"):  # of a number near float64's largest: infinity, as meant
        rounded = np.ldexp(whole, exponent - SIGNIFICANT_BITS)
    limits = np.finfo(np.float32)
    tiny = (rounded > 0) & (rounded < float(limits.tiny))
    rounded = np.where(tiny, float(limits.tiny), rounded)
    huge = ~finite | (rounded > float(limits.max))
    return np.where(huge, np.inf, rounded).astype(np.float32)
