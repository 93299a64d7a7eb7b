"""Compile all faults without running any: how many are stillborn, equal, or worth a run."""

import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from gpu_eval.campaign.equivalence import Classified, classify
from gpu_eval.campaign.implementations import implementations
from gpu_eval.campaign.plan import find_profile
from gpu_eval.campaign.pool import candidate_pool
from gpu_eval.campaign.witness_pool import witness_pool
from gpu_eval.devices.base import Binary, Device, KernelSource
from gpu_eval.problems.definition import Problem
from gpu_eval.problems.plan import LaunchPlan, ResolvedPlan
from gpu_eval.problems.tensors import dimensions
from suiteopt.errors import UserError
from suiteopt.matrix.schema import ImplementationClass, Kind

Compile = Callable[[Sequence[KernelSource], Path, int], Sequence[Binary]]
"""Sources, a directory for what is compiled, and how many at once."""


def survey(problems: Sequence[Problem], profile: str, device: Device, jobs: int) -> dict[str, int]:
    """Count the mutants of some problems by class, on the shapes of a profile.

    Returns
    -------
    dict of str to int
        ``stillborn``, ``equivalent``, ``duplicate`` and ``valid``.
    """
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="gpu-eval-") as cache:
        for problem in problems:
            sorted_out = classified_mutants(problem, profile, device.compile, Path(cache), jobs)
            counts.update(str(mutant.cls) for mutant in sorted_out)
    return {str(cls): counts[str(cls)] for cls in reversed(ImplementationClass)}


def classified_mutants(
    problem: Problem, profile: str, compile_all: Compile, cache: Path, jobs: int
) -> tuple[Classified, ...]:
    """Compile the mutants of a problem and say of each what it is on the shapes of a profile.

    Parameters
    ----------
    problem : Problem
    profile : str
    compile_all : callable
        A device's `Device.compile`, or a compiler's.
    cache : Path
    jobs : int

    Raises
    ------
    UserError
        If a substrate does not compile.
    """
    chosen = find_profile(profile)
    listed = implementations(problem)
    wanted = [i.source for i in listed if i.source is not None and not i.is_launch_fault]
    binaries = {binary.id: binary for binary in compile_all(wanted, cache, jobs)}
    for implementation in listed:
        if implementation.kind == Kind.SUBSTRATE and binaries[implementation.id].path is None:
            raise UserError(
                f"{problem.id}: '{implementation.name}' does not compile, so that none of its "
                f"faults can be judged: {binaries[implementation.id].error}"
            )
    pool = (*candidate_pool(problem, chosen), *witness_pool(problem, chosen))

    def resolve(plan: LaunchPlan, shape: Mapping[str, int]) -> ResolvedPlan:
        return plan.resolve(dimensions(problem, shape), problem.scalars)

    classified = classify(listed, binaries, [i.shape for i in pool], resolve)
    return tuple(c for c in classified if c.implementation.kind == Kind.MUTANT)
