"""What a suite has to beat: random inputs, own draws, the best single input, the ceiling."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from suiteopt.selection.instance import Instance


def random_detection(instance: Instance, budget: int) -> NDArray[np.float64]:
    """Chance that ``budget`` inputs drawn without replacement kill each mutant.

    ``P(m killed) = 1 - C(n - d_m, k) / C(n, k)`` with d_m killers among n inputs; 1 where a
    given input kills it anyway. A budget above n draws all.

    Returns
    -------
    ndarray of float64, shape (m,)
    """
    inputs = len(instance.inputs)
    draws = min(budget, inputs)
    killers = instance.kills.sum(axis=1).astype(np.float64)
    spared = inputs - killers
    possible = spared >= draws
    with np.errstate(invalid="ignore"):
        log_missed = _log_choose(np.maximum(spared, draws), draws) - _log_choose(inputs, draws)
    missed = np.where(possible, np.exp(log_missed), 0.0)
    missed = np.where(killers == 0, 1.0, missed)
    return np.where(instance.given > 0, 1.0, 1.0 - missed)


def _log_choose(n: NDArray[np.float64] | int, k: int) -> NDArray[np.float64]:
    size = np.asarray(n, dtype=np.float64)
    value: NDArray[np.float64] = gammaln(size + 1) - gammaln(k + 1) - gammaln(size - k + 1)
    return value


def lift(held_out: float, random: float, ceiling: float) -> float | None:
    """Share of what is to be gained over random inputs that was gained: (H - R) / (O - R).

    None where random inputs already reach the ceiling.
    """
    room = ceiling - random
    return None if room <= 1e-12 else (held_out - random) / room
