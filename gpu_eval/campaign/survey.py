"""Compile all faults without running any: how many are stillborn, equal, or worth a run."""

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from gpu_eval.campaign.equivalence import classify
from gpu_eval.campaign.implementations import implementations
from gpu_eval.campaign.plan import find_profile
from gpu_eval.campaign.pool import candidate_pool
from gpu_eval.campaign.witness_pool import witness_pool
from gpu_eval.devices.base import Device
from gpu_eval.problems.definition import Problem
from gpu_eval.problems.plan import LaunchPlan, ResolvedPlan
from gpu_eval.problems.tensors import dimensions
from suiteopt.matrix.schema import ImplementationClass, Kind


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
            counts += _survey(problem, profile, device, jobs, Path(cache))
    return {str(cls): counts[str(cls)] for cls in reversed(ImplementationClass)}


def _survey(problem: Problem, profile: str, device: Device, jobs: int, cache: Path) -> Counter[str]:
    chosen = find_profile(profile)
    listed = implementations(problem)
    wanted = [i.source for i in listed if i.source is not None and not i.is_launch_fault]
    binaries = {binary.id: binary for binary in device.compile(wanted, cache, jobs)}
    pool = (*candidate_pool(problem, chosen), *witness_pool(problem, chosen))

    def resolve(plan: LaunchPlan, shape: Mapping[str, int]) -> ResolvedPlan:
        return plan.resolve(dimensions(problem, shape), problem.scalars)

    classified = classify(listed, binaries, [i.shape for i in pool], resolve)
    return Counter(str(c.cls) for c in classified if c.implementation.kind == Kind.MUTANT)
