"""The candidate pool of a problem, and how an input becomes tensors."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from gpu_eval.campaign.choices import (
    AFFINE_PARAMETERS,
    CHOICES,
    DEFAULT_SHAPE_VALUES,
    LINEAR_PARAMETERS,
    SCALINGS,
    SHAPE_VALUES,
    value_order,
)
from gpu_eval.campaign.own_draw import TRIAL_SEEDS, initial_parameters, is_scalable, own_draw
from gpu_eval.campaign.pool_input import (
    OWN,
    SCALED,
    PoolInput,
    derived_seed,
    make_input,
    pool_hash,
)
from gpu_eval.campaign.shapes import PlannedShape, Profile, plan_shape
from gpu_eval.campaign.tensor_values import with_structure, values_of
from gpu_eval.campaign.variations import shape_variations
from gpu_eval.problems.definition import ParameterRole, Problem
from gpu_eval.problems.tensors import dimensions, shape_of
from suiteopt.inputs.parameters import BENCHMARK
from suiteopt.inputs.recipes import build
from suiteopt.matrix.schema import Role

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["PoolInput", "candidate_pool", "pool_hash", "realise"]


def candidate_pool(problem: Problem, profile: Profile) -> tuple[PoolInput, ...]:
    """Return a problem's candidates in order of worth, then the further own draws.

    The first candidate is the benchmark's first own draw, then come its scalings, the value
    recipes of the problem's class, other parameters, and other shapes. What a problem does not
    have (parameters, a tile) is made up for by further value recipes.

    Parameters
    ----------
    problem : Problem
    profile : Profile

    Returns
    -------
    tuple of PoolInput
        ``profile.candidates`` of role candidate, then own draws 2 to 5 of role own.
    """
    planned = plan_shape(problem, profile.limits)
    special = [
        *_with_parameters(problem, planned, profile.parameters),
        *_with_shapes(problem, planned, profile.shapes),
    ]
    scalings = [_scaled(problem, planned, factor) for factor in SCALINGS[: profile.scalings]]
    room = profile.candidates - 1 - len(scalings) - len(special)
    values = [
        make_input(
            problem,
            planned,
            role=Role.CANDIDATE,
            kind=choice.kind,
            value_recipe=choice.name,
            values=values_of(problem, planned, choice),
        )
        for choice in value_order(problem.operation_class)[:room]
    ]
    own = [_own(problem, planned, trial) for trial in range(len(TRIAL_SEEDS))]
    return (own[0], *scalings, *values, *special, *own[1:])
