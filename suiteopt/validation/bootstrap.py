"""Uncertainty with the problem as its unit: bootstrap intervals and an exact sign-flip test."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

PROBLEMS_FOR_INTERVAL = 20
RESAMPLES = 5000
CONFIDENCE = 0.95


def share_interval(
    parts: ArrayLike, wholes: ArrayLike, seed: int = 0
) -> tuple[float, float] | None:
    """Percentile bootstrap interval, 95%, of sum(parts) / sum(wholes) over problems.

    Two figures of the same problems and the same seed see the same resamples, so an interval of
    their difference is that of ``parts`` subtracted problem by problem.

    Parameters
    ----------
    parts, wholes : array_like of float, shape (problems,)

    Returns
    -------
    tuple of float or None
        None under `PROBLEMS_FOR_INTERVAL` problems: there the sign-flip test stands instead.
    """
    numerators = np.asarray(parts, dtype=np.float64)
    denominators = np.asarray(wholes, dtype=np.float64)
    used = denominators > 0
    if used.sum() < PROBLEMS_FOR_INTERVAL:
        return None
    from scipy import stats  # slow to import, and many commands need none of it

    result = stats.bootstrap(
        (numerators[used], denominators[used]),
        _ratio,
        n_resamples=RESAMPLES,
        confidence_level=CONFIDENCE,
        paired=True,
        vectorized=True,
        method="percentile",
        rng=np.random.default_rng(seed),
    )
    interval = result.confidence_interval
    return float(interval.low), float(interval.high)


def _ratio(
    numerators: NDArray[np.float64], denominators: NDArray[np.float64], axis: int = -1
) -> NDArray[np.float64]:
    ratio: NDArray[np.float64] = numerators.sum(axis=axis) / denominators.sum(axis=axis)
    return ratio


def sign_flip_p(differences: ArrayLike) -> float | None:
    """Exact two-sided sign-flip test that paired differences are centred at 0.

    All 2**n signs are tried (n < 20 here); problems without a difference carry no information
    and leave the test unchanged.

    Parameters
    ----------
    differences : array_like of float, shape (problems,)

    Returns
    -------
    float or None
        The p-value; None where no problem differs or where an interval is due instead.
    """
    values = np.asarray(differences, dtype=np.float64)
    if len(values) >= PROBLEMS_FOR_INTERVAL:
        return None
    values = values[np.abs(values) > 1e-12]
    if not len(values):
        return None
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    observed = abs(float(values.sum()))
    return float(np.mean(np.abs(sums) >= observed * (1.0 - 1e-9)))


def upper_bound(events: int, trials: int, confidence: float = CONFIDENCE) -> float | None:
    """Exact one-sided Clopper-Pearson upper bound of a share; None without a trial."""
    if trials == 0:
        return None
    from scipy import stats

    interval = stats.binomtest(events, trials, alternative="less").proportion_ci(
        confidence_level=confidence, method="exact"
    )
    return float(interval.high)
