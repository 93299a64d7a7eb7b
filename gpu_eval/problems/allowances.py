"""How far off a substrate or control may be from fp64 and still be right.

A substrate is right on an input if its error (max d / RMS against fp64) is within `ALLOWANCE` x
max(PyTorch's own error, the rounding floor). A control may also be as far off as the worst case
of its sums, n u m(y) (Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 4.2),
which is sqrt(n) times the floor: a serial fp32 sum of many like terms rounds the same way every
time, so that its error grows with n, and it is right by definition. Where an input makes all sums
exact, both allowances are 0; a control of another algorithm may round there all the same, since
what it adds are no longer these sums (Winograd's and Fourier's transforms, for which a library
decides by itself).
"""

import math
from dataclasses import dataclass

from gpu_eval.devices.base import Case
from gpu_eval.problems.check_runs import SUBSTRATE, Runnable
from gpu_eval.problems.definition import Problem
from gpu_eval.problems.tensors import floors
from suiteopt.matrix.schema import Statistic

ALLOWANCE = 8.0
"""How many times the larger of PyTorch's own error and the rounding floor is still right."""

ALGORITHM = "algorithm"
"""The kind of controls that compute the same in another way."""


@dataclass(frozen=True)
class Allowances:
    """How large an error (max d / RMS) may be on an input.

    Attributes
    ----------
    substrate, control, algorithm : float
        For a substrate, for a control, and for a control that is another algorithm by a library.
    """

    substrate: float
    control: float
    algorithm: float

    @classmethod
    def on(cls, problem: Problem, case: Case, length: int, own: float, exact: bool) -> "Allowances":
        """Return them for a case whose own reference is off by ``own``."""

        def pair(exact: bool) -> tuple[float, float]:
            floor = floors(problem, case.tensors, case.reference, length, exact)[Statistic.RMS]
            strict = ALLOWANCE * max(own, floor)
            return strict, max(strict, math.sqrt(length) * floor)

        strict, lenient = pair(exact)
        return cls(strict, lenient, pair(exact=False)[1] if exact else lenient)

    def of(self, run: Runnable) -> float:
        """Return that of an implementation."""
        if run.kind == SUBSTRATE:
            return self.substrate
        by_library = run.kind == ALGORITHM and run.control is not None
        return self.algorithm if by_library else self.control
