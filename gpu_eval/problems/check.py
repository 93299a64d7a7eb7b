"""Verifying a corpus: every substrate and control against fp64, on every input of a profile.

How far off a kernel may be and still be right is told in `gpu_eval.problems.allowances`.

On a GPU a kernel that adds by fp32 atomics is allowed what these flush to zero besides, see
`gpu_eval.problems.flushed`.

Where PyTorch's own fp32 result is no answer (an output that cancels to less than its terms'
rounding, or lies below fp32's range), no error can be told from a right one: such an input is not
judged, see `OWN_ERROR_LIMIT`.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from gpu_eval.devices.base import Case, Device, Outcome
from gpu_eval.problems.allowances import ALLOWANCE, Allowances
from gpu_eval.problems.check_runs import compile_all, outcomes
from gpu_eval.problems.definition import Problem, Tensors
from gpu_eval.problems.flushed import flushing_floor
from gpu_eval.problems.tensors import dimensions, reduction_length
from gpu_eval.problems.validate import validate
from suiteopt.matrix.schema import Count, Statistic, Status

if TYPE_CHECKING:
    from gpu_eval.campaign.pool import PoolInput
    from gpu_eval.campaign.shapes import Profile

OWN_ERROR_LIMIT = 1 / ALLOWANCE
"""PyTorch's own error (max d / RMS) above which an input is not judged: the allowance would be more
than the output's RMS, and an output of nothing but zeros would be within it wherever the right one
is about the same size everywhere."""


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
    unjudged : mapping of str to str
        Inputs on which right cannot be told from wrong, with the reason; see `OWN_ERROR_LIMIT`.
    zero : int
        Inputs that were judged and whose right output is zero everywhere.
    random : int
        Inputs that are unjudged since the reference gives another result each time.
    """

    problem: str
    implementations: tuple[ImplementationCheck, ...]
    inputs: int
    invalid: Mapping[str, str] = field(default_factory=dict)
    unjudged: Mapping[str, str] = field(default_factory=dict)
    zero: int = 0
    random: int = 0

    @property
    def judged(self) -> int:
        """On how many inputs implementations were judged."""
        return self.inputs - len(self.invalid) - len(self.unjudged)

    @property
    def passed(self) -> bool:
        """Whether every implementation is right on every input judged.

        There must be one, unless the reference is random: nothing can be right beside that.
        """
        some = self.judged > 0 or self.random > 0
        return some and all(i.passed for i in self.implementations)

    @property
    def proven(self) -> bool:
        """Whether it passed, and not only by zeros where zeros are all that is ever right."""
        return self.passed and self.judged > self.zero

    @property
    def doubt(self) -> str:
        """Say why implementations none of which is wrong are not proven; empty if they are."""
        if self.proven or not all(i.passed for i in self.implementations):
            return ""
        if self.judged:
            return "the right output is zero on every input, so that nothing is proven"
        if self.random:
            return "the reference gives another result each time, so that nothing is proven"
        if not self.unjudged:
            return "no input is valid"
        return "no input can be judged: " + next(iter(self.unjudged.values()))


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


def check_named(
    problem: Problem, device: str, profile: str, cache: Path, *, jobs: int = 1
) -> CheckReport:
    """Check a problem as another process is told to: by the names of a device and a profile.

    See `check_problem`. One thread for torch: there is a process for each core.
    """
    import torch

    from gpu_eval.campaign.plan import find_profile
    from gpu_eval.devices.registry import open_device

    torch.set_num_threads(1)
    return check_problem(problem, open_device(device), find_profile(profile), cache, jobs=jobs)


def check_inputs(
    problem: Problem,
    device: Device,
    pool: Sequence["PoolInput"],
    cache: Path,
    *,
    jobs: int = 1,
) -> CheckReport:
    """Check a validated problem on given inputs; see `check_problem`."""
    import torch

    from gpu_eval.campaign.cases import CaseFactory, InvalidInputError
    from gpu_eval.campaign.ready_inputs import LARGE_BYTES

    runs = compile_all(problem, device, cache, jobs)
    flushed = any(run.flushes for run in runs)
    # Every input is wanted once.
    factory = CaseFactory(problem, device.torch_device, limit=0)
    checks = [ImplementationCheck(run.name, run.kind) for run in runs]
    invalid: dict[str, str] = {}
    unjudged: dict[str, str] = {}
    zero = random = 0
    with device.open() as session:
        for pool_input in pool:
            values = dimensions(problem, pool_input.shape)
            try:
                prepared = factory.get(pool_input)
            except InvalidInputError as error:
                invalid[pool_input.id] = str(error)
                continue
            case = prepared.case
            if device.torch_device != "cpu" and prepared.bytes > LARGE_BYTES:
                torch.cuda.empty_cache()
            session.bind(case)
            own = session.judge(case.reference).statistics.get(Statistic.TRUTH_RMS, math.inf)
            if not own <= OWN_ERROR_LIMIT:
                unjudged[pool_input.id] = (
                    f"PyTorch's own fp32 result is off by {own:.2g} times the output's RMS, "
                    f"more than {OWN_ERROR_LIMIT:g}"
                )
                random += _differs(case.reference, factory.reference(case.tensors))
                continue
            zero += _is_zero(case)
            length = reduction_length(problem, values)
            allowances = Allowances.on(problem, case, length, own, pool_input.exact)
            # No kernel adds more often to an output than this has terms.
            flushing = flushing_floor(case.truth, length) if flushed else 0.0
            found = outcomes(runs, session, case, values)
            for index, (run, outcome) in enumerate(zip(runs, found, strict=True)):
                allowed = allowances.of(run)
                allowed += flushing if run.flushes else 0.0
                checks[index] = _worst(checks[index], outcome, own, allowed, pool_input.id)
    return CheckReport(problem.id, tuple(checks), len(pool), invalid, unjudged, zero, random)


def _differs(reference: Tensors, again: Tensors) -> bool:
    """Tell whether a reference gave another result when it was called again, as a dropout does."""
    return any(not again[name].equal(output) for name, output in reference.items())


def _is_zero(case: Case) -> bool:
    """Tell whether zeros are all that is right; indices choose something, whatever they are."""
    outputs = case.truth.values()
    return all(output.is_floating_point() and not output.any() for output in outputs)


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
