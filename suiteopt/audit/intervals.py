"""Intervals of shares with the problem as the unit, for few problems as for many."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from suiteopt.validation.bootstrap import CONFIDENCE, share_interval


class IntervalMethod(StrEnum):
    """How an interval was made."""

    BOOTSTRAP = "cluster_bootstrap"  # percentile, problems resampled
    CLUSTER_T = "cluster_t"  # linearised ratio, Student's t with (problems - 1) degrees


@dataclass(frozen=True)
class Interval:
    """A 95% interval of a share, or of a difference of shares.

    Attributes
    ----------
    low, high : float
    method : IntervalMethod
    problems : int
        Units that it rests on.
    """

    low: float
    high: float
    method: IntervalMethod
    problems: int

    def as_list(self) -> list[float]:
        """Return both ends."""
        return [self.low, self.high]


def cluster_interval(
    parts: ArrayLike, wholes: ArrayLike, *, lowest: float = 0.0, highest: float = 1.0, seed: int = 0
) -> Interval | None:
    r"""Return a 95% interval of sum(parts) / sum(wholes), problems being the units.

    From `suiteopt.validation.bootstrap.PROBLEMS_FOR_INTERVAL` problems on these are resampled.
    Below that the percentiles of a bootstrap are too narrow, and the ratio is linearised instead
    (Cochran, Sampling Techniques, 1977, section 6.3) with Student's t for the number of units
    (Cameron and Miller, J. Human Resources 50, 2015): with R the ratio, g the problems and G
    their number,

    .. math:: R \pm t_{G-1} \sqrt{\frac{G}{G-1} \sum_g (p_g - R w_g)^2} \Big/ \sum_g w_g.

    Where all problems have the same share (all of it, none of it) either is a point: nothing
    varied between the problems that were seen, which says little about others.

    Parameters
    ----------
    parts, wholes : array_like of float, shape (problems,)
    lowest, highest : float
        What the share cannot go beyond.
    seed : int
        Of the resampling.

    Returns
    -------
    Interval or None
        None under two problems with a whole.
    """
    numerators = np.asarray(parts, dtype=np.float64)
    denominators = np.asarray(wholes, dtype=np.float64)
    used = denominators > 0
    numerators, denominators = numerators[used], denominators[used]
    units = len(numerators)
    if units < 2:
        return None
    resampled = share_interval(numerators, denominators, seed)
    if resampled is not None:
        return Interval(*resampled, IntervalMethod.BOOTSTRAP, units)
    from scipy import stats  # slow to import, and many commands need none of it

    whole = float(denominators.sum())
    ratio = float(numerators.sum()) / whole
    squares = float(np.square(numerators - ratio * denominators).sum())
    error = float(np.sqrt(units / (units - 1) * squares)) / whole
    half = float(stats.t.ppf(0.5 + CONFIDENCE / 2, units - 1)) * error
    return Interval(
        max(lowest, ratio - half), min(highest, ratio + half), IntervalMethod.CLUSTER_T, units
    )
