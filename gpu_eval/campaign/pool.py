"""The candidate pool of a problem, and how an input becomes tensors."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from gpu_eval.campaign.choices import (
    AFFINE_PARAMETERS,
    CHOICES,
    LINEAR_PARAMETERS,
    SCALINGS,
    shape_values,
    value_order,
)
from gpu_eval.campaign.composites import DISPLACED, composites
from gpu_eval.campaign.own_draw import (
    TRIAL_SEEDS,
    WIDE_CHUNK,
    is_scalable,
    own_draw,
    shared_parameters,
)
from gpu_eval.campaign.pool_input import HASHED, OWN, SCALED, PoolInput, make_input, pool_hash
from gpu_eval.campaign.shapes import (
    PlannedShape,
    Profile,
    full_shape,
    plan_shape,
    spread_shape,
)
from gpu_eval.campaign.tensor_values import own_values, values_of
from gpu_eval.campaign.variations import shape_variations
from gpu_eval.problems.definition import ParameterRole, Problem
from gpu_eval.problems.tensors import dimensions, shape_of
from suiteopt.errors import UserError
from suiteopt.inputs.parameters import BENCHMARK
from suiteopt.inputs.recipes import build
from suiteopt.matrix.schema import Role

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["PoolInput", "candidate_pool", "pool_hash", "realise"]


def candidate_pool(problem: Problem, profile: Profile) -> tuple[PoolInput, ...]:
    """Return a problem's candidates in order of worth, then the further own draws.

    The first candidate is the benchmark's first own draw, then come its scalings, the value
    recipes of the problem's class, other parameters, other shapes, and (where the profile has
    them) composites of these. What a problem does not have (parameters, a tile) is made up for by
    further value recipes.

    Parameters
    ----------
    problem : Problem
    profile : Profile

    Returns
    -------
    tuple of PoolInput
        ``profile.candidates`` of role candidate, then own draws 2 to 5 of role own.
    """
    planned = spread_shape(problem, plan_shape(problem, profile.limits), profile)
    drawn = plan_shape(problem, profile.own_limits) if profile.own_limits else planned
    scaled = plan_shape(problem, profile.scaled_limits) if profile.scaled_limits else drawn
    scaled = spread_shape(problem, scaled, profile)
    hashed = profile.hashed_elements
    special = [
        *_with_parameters(problem, planned, profile.parameters),
        *_with_shapes(problem, planned, profile.shapes),
        *(_composed(problem, planned) if profile.composed else ()),
    ]
    # What cannot be scaled (probabilities, signs, class ids) would be the own draw once more.
    factors = SCALINGS[: profile.scalings] if any(map(is_scalable, problem.inputs)) else ()
    scalings = [_scaled(problem, scaled, hashed, factor) for factor in factors]
    room = profile.candidates - 1 - len(scalings) - len(special)
    displaced = DISPLACED if profile.composed else frozenset[str]()
    order = value_order(problem.operation_class, multiplies=problem.multiplies)
    kept = [choice.name for choice in order if choice.name not in displaced]
    values = [_candidate(problem, planned, name) for name in kept[:room]]
    full = full_shape(problem, drawn, profile)
    own = [_own(problem, full, hashed, trial) for trial in range(len(TRIAL_SEEDS))]
    return (own[0], *scalings, *values, *special, *own[1:])


def realise(problem: Problem, pool_input: PoolInput, device: str = "cpu") -> "dict[str, Tensor]":
    """Make the tensors of an input: inputs in their order, then parameters.

    Parameters
    ----------
    problem : Problem
    pool_input : PoolInput
    device : str
        Where the tensors are wanted. Recipes are computed there, to the same bits everywhere; own
        draws and initialisations come from torch's CPU generator.

    Returns
    -------
    dict of str to Tensor
        Contiguous; inputs in the dtype of their spec, parameters in float32.

    Raises
    ------
    UserError
        If a recipe of the input is unknown, or the problem cannot initialise its parameters.
    """
    import torch

    values = dimensions(problem, pool_input.shape)
    made: dict[str, Tensor] = {}
    own: dict[str, Tensor] = {}
    initial: dict[str, Tensor] = {}
    for spec in problem.inputs:
        recipe = pool_input.values[spec.name]
        if recipe["name"] in (OWN, SCALED):
            own = own or _drawn(problem, values, pool_input, device)
            tensor = own[spec.name].to(device)
            if recipe["name"] == SCALED and is_scalable(spec):
                tensor = tensor * recipe["arguments"]["factor"]
        else:
            tensor = _built(problem, recipe, shape_of(spec, values), pool_input, spec.name, device)
        made[spec.name] = tensor.to(device=device, dtype=getattr(torch, spec.dtype)).contiguous()
    for parameter in problem.parameters:
        recipe = pool_input.parameters[parameter.name]
        if recipe["name"] == BENCHMARK:
            initial = initial or shared_parameters(problem, values, device)
            tensor = initial[parameter.name]
        else:
            shape = shape_of(parameter, values)
            tensor = _built(problem, recipe, shape, pool_input, parameter.name, device)
        made[parameter.name] = tensor.to(device=device, dtype=torch.float32).contiguous()
    return made


_LAST_DRAW: dict[str, "dict[str, Tensor]"] = {}
"""The last draw for a GPU: scalings of a large one follow each other, and drawing is slow."""


def _drawn(
    problem: Problem, values: Mapping[str, int], pool_input: PoolInput, device: str
) -> "dict[str, Tensor]":
    hashed = _hashed_names(pool_input)
    if device == "cpu" or hashed:
        _LAST_DRAW.clear()
        return own_draw(problem, values, pool_input.seed, hashed, device)
    key = repr((problem.id, sorted(values.items()), pool_input.seed))
    if key not in _LAST_DRAW:
        _LAST_DRAW.clear()
        _LAST_DRAW[key] = own_draw(problem, values, pool_input.seed)
    return _LAST_DRAW[key]


def _hashed_names(pool_input: PoolInput) -> frozenset[str]:
    """Return the tensors whose own draw is made by hashing."""
    return frozenset(
        name
        for name, recipe in pool_input.values.items()
        if recipe["arguments"].get("draw") == HASHED
    )


def _built(
    problem: Problem,
    recipe: Any,
    shape: tuple[int, ...],
    pool_input: PoolInput,
    tensor: str,
    device: str,
) -> "Tensor":
    try:
        if device == "cpu":
            return build(recipe, shape, pool_input.seed, tensor, device)
        return build(recipe, shape, pool_input.seed, tensor, device, chunk=WIDE_CHUNK)
    except (KeyError, ValueError) as error:
        raise UserError(
            f"problem {problem.id}: input '{pool_input.id}' cannot be made, tensor '{tensor}': "
            f"{error.args[0]}"
        ) from error


def _own(problem: Problem, planned: PlannedShape, hashed: int | None, trial: int) -> PoolInput:
    return make_input(
        problem,
        planned,
        role=Role.OWN if trial else Role.CANDIDATE,
        kind=OWN,
        value_recipe=f"{OWN}-{trial}",
        values=own_values(problem, planned, hashed_elements=hashed),
        seed=TRIAL_SEEDS[trial],
    )


def _scaled(
    problem: Problem, planned: PlannedShape, hashed: int | None, factor: float
) -> PoolInput:
    return make_input(
        problem,
        planned,
        role=Role.CANDIDATE,
        kind="scaling",
        value_recipe=f"{OWN}-x{factor:g}",
        values=own_values(problem, planned, factor, hashed),
        seed=TRIAL_SEEDS[0],
    )


def _candidate(
    problem: Problem,
    planned: PlannedShape,
    name: str,
    parameter_recipe: str = BENCHMARK,
    kind: str = "",
) -> PoolInput:
    """Put a candidate together from the name of a value choice, or `own` for the first draw."""
    own = name == OWN
    return make_input(
        problem,
        planned,
        role=Role.CANDIDATE,
        kind=kind or CHOICES[name].kind,
        value_recipe=f"{OWN}-0" if own else name,
        values=own_values(problem, planned) if own else values_of(problem, planned, CHOICES[name]),
        parameter_recipe=parameter_recipe,
        seed=TRIAL_SEEDS[0] if own else None,
    )


def _with_parameters(problem: Problem, planned: PlannedShape, count: int) -> Iterator[PoolInput]:
    if not problem.parameters:
        return
    roles = {spec.role for spec in problem.parameters}
    combinations = LINEAR_PARAMETERS if ParameterRole.WEIGHT in roles else AFFINE_PARAMETERS
    for name, recipe in combinations[:count]:
        yield _candidate(problem, planned, name, recipe, kind="parameters")


def _with_shapes(problem: Problem, planned: PlannedShape, count: int) -> Iterator[PoolInput]:
    for varied in shape_variations(problem, planned)[:count]:
        name = shape_values(problem.operation_class, varied.recipe, multiplies=problem.multiplies)
        yield _candidate(problem, varied, name, kind="shape")


def _composed(problem: Problem, planned: PlannedShape) -> Iterator[PoolInput]:
    for name, parameters, shape in composites(problem, planned):
        yield _candidate(problem, shape, name, parameters, kind="composite")
