"""Refusing recipes that an export could not make as they were measured."""

from collections.abc import Mapping
from typing import Any

from suiteopt.export.recipe_arguments import argument_fault, structure_fault
from suiteopt.inputs.recipes import RECIPES, integer_bound

OWN_RECIPE = "own"
SCALED_RECIPE = "scaled"

UNSCALED = frozenset({"signs", "mask", "class_ids", "probability_rows"})
"""Structures that a scaling leaves as they are: a multiple would break the contract."""


def own_factor(recipe: Mapping[str, Any]) -> float | None:
    """Return by what a recipe multiplies the benchmark's own draw; None for any other recipe.

    Raises
    ------
    KeyError, TypeError, ValueError
        If a scaling has no factor that is a number.
    """
    if recipe["name"] == OWN_RECIPE:
        return 1.0
    if recipe["name"] == SCALED_RECIPE:
        factor = float(recipe["arguments"]["factor"])
        return 1.0 if recipe.get("structure", "none") in UNSCALED else factor
    return None


def recipe_fault(recipe: Mapping[str, Any]) -> str:
    """Return why a value recipe cannot be exported; empty where it can."""
    name = recipe["name"]
    fault = structure_fault(recipe)
    if fault:
        return fault
    if name in (OWN_RECIPE, SCALED_RECIPE):
        try:
            own_factor(recipe)
        except (KeyError, TypeError, ValueError):
            return f"the recipe '{name}' has no factor that is a number"
        return ""
    if name not in RECIPES:
        return f"this version of suiteopt knows no recipe '{name}'"
    if recipe["version"] != RECIPES[name].version:
        return (
            f"the recipe '{name}' was measured in version {recipe['version']}, and this version "
            f"of suiteopt has version {RECIPES[name].version}"
        )
    try:
        integer_bound(name, {})  # names first: a bound of unchecked values may be without end
        unknown = set(recipe["arguments"]) - set(RECIPES[name].arguments)
        integer_bound(name, dict.fromkeys(unknown))
    except (ValueError, TypeError) as error:
        return str(error)
    return argument_fault(name, recipe["arguments"])


def is_nonfinite(recipe: Mapping[str, Any]) -> bool:
    """Whether a recipe makes NaN or infinities."""
    return recipe["name"] in RECIPES and RECIPES[recipe["name"]].nonfinite
