"""Parameter recipes: which value recipe each learned tensor gets, by what it does.

A benchmark's own initialisation leaves affine parameters at the identity and biases small: a
kernel that forgets or misreads them passes. These recipes aim at that. Roles are the words of a
problem definition: ``weight``, ``bias``, ``scale``, ``shift``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from suiteopt.inputs.recipes import RECIPES

BENCHMARK = "benchmark"
"""The benchmark's own initialisation under its own seed: made by whoever has its model."""

ROLES = ("weight", "bias", "scale", "shift")


@dataclass(frozen=True)
class ParameterRecipe:
    """A parameter recipe: for each role a value recipe and its arguments."""

    name: str
    doc: str
    roles: Mapping[str, tuple[str, Mapping[str, Any]]]


def _recipe(
    name: str,
    doc: str,
    *,
    weight: tuple[str, dict[str, Any]],
    bias: tuple[str, dict[str, Any]],
    scale: tuple[str, dict[str, Any]],
    shift: tuple[str, dict[str, Any]],
) -> ParameterRecipe:
    roles = {"weight": weight, "bias": bias, "scale": scale, "shift": shift}
    return ParameterRecipe(name, doc, MappingProxyType(roles))


PARAMETER_RECIPES: Mapping[str, ParameterRecipe] = MappingProxyType(
    {
        recipe.name: recipe
        for recipe in (
            _recipe(
                "affine",
                "Nothing at the identity: scales of either sign away from 0 and 1, shifts and "
                "biases of either sign away from 0, weights of either sign.",
                weight=("signed-uniform", {"exponent": -2}),
                bias=("away", {"sixteenths": 8}),
                scale=("away", {"sixteenths": 20}),
                shift=("away", {"sixteenths": 8}),
            ),
            _recipe(
                "lattice",
                "Small integers, so that fp32 sums with integer inputs are exact.",
                weight=("lattice", {"width": 3}),
                bias=("lattice", {"width": 5}),
                scale=("powers", {"low": 1, "high": 2}),
                shift=("lattice", {"width": 5}),
            ),
            _recipe(
                "index",
                "The element's place as an integer: any misplaced read of a parameter shows.",
                weight=("residue", {"modulus": 31}),
                bias=("residue", {"modulus": 61}),
                scale=("residue", {"modulus": 61}),
                shift=("residue", {"modulus": 127}),
            ),
            _recipe(
                "sparse",
                "Few weights that are not zero, so that single taps and channels stand out.",
                weight=("sparse", {"one_in": 8}),
                bias=("away", {"sixteenths": 8}),
                scale=("away", {"sixteenths": 20}),
                shift=("sparse", {"one_in": 8}),
            ),
            _recipe(
                "heavy-tail",
                "Magnitudes over many octaves: small parameters are lost to low precision.",
                weight=("heavy-tail", {"levels": 8, "exponent": -4}),
                bias=("heavy-tail", {"levels": 8}),
                scale=("heavy-tail", {"levels": 8}),
                shift=("heavy-tail", {"levels": 8}),
            ),
        )
    }
)


def parameter_values(name: str, role: str) -> dict[str, Any]:
    """Return the value recipe of one parameter as ``{"name", "version", "arguments"}``.

    Parameters
    ----------
    name : str
        ``benchmark`` or a key of `PARAMETER_RECIPES`.
    role : str
        One of `ROLES`.

    Raises
    ------
    ValueError
        If the recipe or the role is unknown.
    """
    if role not in ROLES:
        raise ValueError(f"unknown parameter role '{role}'; known: {', '.join(ROLES)}")
    if name == BENCHMARK:
        return {"name": BENCHMARK, "version": 1, "arguments": {}}
    if name not in PARAMETER_RECIPES:
        known = ", ".join((BENCHMARK, *PARAMETER_RECIPES))
        raise ValueError(f"unknown parameter recipe '{name}'; known: {known}")
    recipe, arguments = PARAMETER_RECIPES[name].roles[role]
    return {"name": recipe, "version": RECIPES[recipe].version, "arguments": dict(arguments)}
