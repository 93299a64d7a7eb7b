"""Verifying a corpus: every substrate and control against fp64, on every input of a profile.

A substrate is right on an input if its error (max d / RMS against fp64) is within `ALLOWANCE` x
max(PyTorch's own error, the rounding floor). A control may also be as far off as the worst case
of its sums, n u m(y) (Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 4.2),
which is sqrt(n) times the floor: a serial fp32 sum of many like terms rounds the same way every
time, so that its error grows with n, and it is right by definition.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from gpu_eval.devices.base import Device, Outcome
from gpu_eval.problems.check_runs import SUBSTRATE, compile_all
from gpu_eval.problems.definition import Problem
from gpu_eval.problems.tensors import dimensions, floors, reduction_length
from gpu_eval.problems.validate import validate
from suiteopt.matrix.schema import Count, Statistic, Status

if TYPE_CHECKING:
    from gpu_eval.campaign.pool import PoolInput
    from gpu_eval.campaign.shapes import Profile

ALLOWANCE = 8.0
"""How many times the larger of PyTorch's own error and the rounding floor is still right."""


@dataclass(frozen=True)
class ImplementationCheck:
    """The worst that one implementation did.

    Attributes
    ----------
    name : str
        Of the substrate or control.
    kind : str
        ``substrate``, or the control's kind.
    inputs : int
        On how many it ran.
    ratio : float
        Largest error (max d / RMS against fp64) over what is allowed; right up to 1. Infinite
        where the allowance is 0 and the error is not, and where it did not give finite numbers
        that the reference gives.
    error : float
        The error there.
    own_error : float
        PyTorch's own error there.
    input : str
        Where.
    reason : str
        Empty, or what went wrong other than an error.
    """

    name: str
    kind: str
    inputs: int = 0
    ratio: float = 0.0
    error: float = 0.0
    own_error: float = 0.0
    input: str = ""
    reason: str = ""

    @property
    def passed(self) -> bool:
        """Whether it is right on every input."""
        return self.ratio <= 1 and not self.reason


@dataclass(frozen=True)
class CheckReport:
    """What came of a problem's check.

    Attributes
    ----------
    problem : str
    implementations : tuple of ImplementationCheck
        Substrates first, then controls, in the definition's order.
    inputs : int
    invalid : mapping of str to str
        Inputs that the reference cannot do, with the reason; nothing was judged on them.
    """

    problem: str
    implementations: tuple[ImplementationCheck, ...]
    inputs: int
    invalid: Mapping[str, str] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether every implementation is right on every input, and there was one."""
        return self.inputs > len(self.invalid) and all(i.passed for i in self.implementations)


def check_problem(
    problem: Problem, device: Device, profile: "Profile", cache: Path, *, jobs: int = 1
) -> CheckReport:
    """Validate a problem, then check it on all inputs of a profile, the witness pool included.

    Parameters
    ----------
    problem : Problem
    device : Device
    profile : Profile
        Says how large shapes are and how many inputs there are.
    cache : Path
        Where compiled kernels are kept.
    jobs : int
        Compilers at once.

    Raises
    ------
    UserError
        If the definition is wrong or one of its kernels does not compile.
    """
    from gpu_eval.campaign.pool import candidate_pool
    from gpu_eval.campaign.witness_pool import witness_pool

    validate(problem)
    pool = (*candidate_pool(problem, profile), *witness_pool(problem, profile))
    return check_inputs(problem, device, pool, cache, jobs=jobs)


def check_inputs(
    problem: Problem,
    device: Device,
    pool: Sequence["PoolInput"],
    cache: Path,
    *,
    jobs: int = 1,
) -> CheckReport:
    """Check a validated problem on given inputs; see `check_problem`."""
    from gpu_eval.campaign.cases import CaseFactory, InvalidInputError

    runs = compile_all(problem, device, cache, jobs)
    factory = CaseFactory(problem, device.torch_device)
    checks = [ImplementationCheck(run.name, run.kind) for run in runs]
    invalid: dict[str, str] = {}
    with device.open() as session:
        for pool_input in pool:
            values = dimensions(problem, pool_input.shape)
            try:
                case = factory.get(pool_input).case
            except InvalidInputError as error:
                invalid[pool_input.id] = str(error)
                continue
            session.bind(case)
            own = session.judge(case.reference).statistics.get(Statistic.TRUTH_RMS, math.inf)
            length = reduction_length(problem, values)
            rms_floor = floors(problem, case.tensors, case.reference, length, pool_input.exact)[
                Statistic.RMS
            ]
            strict = ALLOWANCE * max(own, rms_floor)
            lenient = max(strict, math.sqrt(length) * rms_floor)
            for index, run in enumerate(runs):
                outcome = run.outcome(session, case, values)
                allowed = strict if run.kind == SUBSTRATE else lenient
                checks[index] = _worst(checks[index], outcome, own, allowed, pool_input.id)
    return CheckReport(problem.id, tuple(checks), len(pool), invalid)


def _worst(
    so_far: ImplementationCheck, outcome: Outcome, own: float, allowed: float, where: str
) -> ImplementationCheck:
    error = outcome.statistics.get(Statistic.TRUTH_RMS, math.inf)
    reason = _reason(outcome)
    if reason:
        ratio = math.inf
    elif error == 0:
        ratio = 0.0
    else:
        ratio = error / allowed if allowed > 0 else math.inf
    counted = replace(so_far, inputs=so_far.inputs + 1)
    if so_far.inputs and ratio <= so_far.ratio:
        return counted
    return replace(
        counted,
        ratio=ratio,
        error=error,
        own_error=own,
        input=where,
        reason=f"{reason} on {where}" if reason else "",
    )


def _reason(outcome: Outcome) -> str:
    """Say what is wrong apart from an error; a NaN or infinity that the reference has is right."""
    if outcome.status not in (Status.OK, Status.NONFINITE):
        return f"{outcome.status.value} {outcome.message}".strip()
    wrong = {c.value: outcome.counts.get(c, 0) for c in (Count.NAN_ONE, Count.INF_MISMATCH)}
    found = [f"{name} {count}" for name, count in wrong.items() if count]
    return f"non-finite elements differ from the reference ({', '.join(found)})" if found else ""


def worst_ratio(reports: Iterable[CheckReport]) -> float:
    """Return the largest ratio of several reports; 0 if there are none."""
    ratios = (check.ratio for report in reports for check in report.implementations)
    return max(ratios, default=0.0)
