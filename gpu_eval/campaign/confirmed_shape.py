"""The shapes at which a suite's members are measured again: the benchmark's own, or near them."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gpu_eval.campaign.pool_input import HASHED, OWN, SCALED
from gpu_eval.campaign.shape_growth import Planner
from gpu_eval.campaign.shape_limits import Limits
from gpu_eval.campaign.shapes import (
    CONTRACT_SHAPE,
    PlannedShape,
    Profile,
    full_shape,
    plan_shape,
    planned_shape,
)
from gpu_eval.campaign.variations import SHAPE_RECIPES, vary_shape
from gpu_eval.problems.definition import Problem, Structure
from gpu_eval.problems.expressions import evaluate
from gpu_eval.problems.tensors import shape_of


def confirmed_shape(problem: Problem, measured: PlannedShape, profile: Profile) -> PlannedShape:
    """Return the shape at which a member that was measured at another one is confirmed.

    A variation (``one``, ``tile+1``) stays that variation, of the contract's scale. One that the
    problem does not have at that scale, or that no recipe here makes, keeps its shape.

    Parameters
    ----------
    problem : Problem
    measured : PlannedShape
    profile : Profile
    """
    grown = contract_shape(problem, profile)
    if measured.recipe == CONTRACT_SHAPE:
        return grown
    if measured.recipe not in SHAPE_RECIPES:
        return measured
    return vary_shape(problem, grown, measured.recipe) or measured


def contract_shape(problem: Problem, profile: Profile) -> PlannedShape:
    """Return the benchmark's own dimensions, in full where a profile's limits carry them.

    Elsewhere it is the largest shape that the limits of the profile's own draws allow, with the
    contract's reductions wherever the profile affords those at all.
    """
    whole = {d.name: d.size for d in problem.dimensions}
    if Planner(problem, _ceiling(profile), ()).affordable(whole):
        full = planned_shape(problem, whole, CONTRACT_SHAPE)
        if full is not None:
            return full
    drawn = plan_shape(problem, profile.own_limits or profile.limits)
    return full_shape(problem, drawn, profile)


def confirmed_values(
    problem: Problem,
    planned: PlannedShape,
    values: Mapping[str, Mapping[str, Any]],
    hashed_elements: int | None,
) -> dict[str, dict[str, Any]]:
    """Return a member's value recipes for another shape: as an export carries them.

    Recipes keep their arguments. What the shape decides follows it: the number of classes, and
    whether an own draw is too large for torch's CPU generator and is made by hashing.
    """
    fitted = {name: dict(recipe) for name, recipe in values.items()}
    for spec in problem.inputs:
        recipe = fitted[spec.name]
        if spec.structure is Structure.CLASS_IDS and "classes" in recipe:
            recipe["classes"] = evaluate(spec.classes, planned.dimensions)
        if recipe["name"] in (OWN, SCALED):
            arguments = {k: v for k, v in recipe["arguments"].items() if k != "draw"}
            elements = math.prod(shape_of(spec, planned.dimensions))
            if hashed_elements is not None and elements > hashed_elements:
                arguments["draw"] = HASHED
            recipe["arguments"] = arguments
    return fitted


def _ceiling(profile: Profile) -> Limits:
    """Return what no cell of a profile may exceed, whatever it aims at."""
    return replace(
        profile.full_limits or profile.own_limits or profile.limits, target_elements=None
    )
