"""What family of recipes an input belongs to, and at which scale of it it stands."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from suiteopt.inputs.recipes import RECIPES

OWN_FAMILY = "own draw"
OWN, SCALED = "own", "scaled"

_POWER = frozenset(
    {"uniform", "signed-uniform", "normal", "beyond-half", "below-half", "alternating", "sorted"}
)
"""Recipes whose ``exponent`` is the power of two that all values are multiplied by."""

_LEVELS = {
    "offset": "offset",
    "hot": "heat",
    "lattice": "width",
    "residue": "modulus",
    "rows": "levels",
    "few": "count",
    "sparse": "one_in",
}
"""Recipes with an argument that is their scale as it stands."""

_EXPONENTS = {"heavy-tail": "levels", "ramp": "span", "octaves": "high", "powers": "high"}
"""Recipes with an argument whose power of two is the largest magnitude."""

TIES = frozenset({"few", "constant", "zeros-denormals"})
"""Families in which many elements are equal."""

SYMMETRIC = TIES | {"alternating", "pairs", "rows", "lattice"}
"""Families in which an exchange of elements leaves much as it is."""


@dataclass(frozen=True)
class Setting:
    """A recipe family at one scale.

    Attributes
    ----------
    name : str
        The short name of the value recipe in the matrix.
    family : str
        Its recipe; ``own draw`` for the benchmark's draw and its scalings.
    scale : float or None
        Factor on the own draw, power of two, offset, heat, number of levels: what grows within
        the family. None where nothing does.
    parameters : str
        Short name of the parameter recipe.
    """

    name: str
    family: str
    scale: float | None
    parameters: str


def setting_of(row: "pd.Series[Any]") -> Setting:
    """Return the setting of a row of ``inputs.parquet``; its first tensor decides.

    A recipe that this version does not know is a family of its own, without a scale.
    """
    name, parameters = str(row["value_recipe"]), str(row["parameter_recipe"])
    recipe = _first_recipe(str(row["values"]))
    kind = str(recipe.get("name", ""))
    arguments = recipe.get("arguments", {})
    if kind in (OWN, SCALED):
        factor = arguments.get("factor", 1.0) if isinstance(arguments, Mapping) else 1.0
        number = _number(factor)
        scale = None if number is None else abs(number)
        return Setting(name, OWN_FAMILY, scale, parameters)
    if kind not in RECIPES or not isinstance(arguments, Mapping):
        return Setting(name, kind or name, None, parameters)
    return Setting(name, kind, _scale(kind, arguments), parameters)


def _scale(kind: str, given: Mapping[str, Any]) -> float | None:
    arguments: dict[str, Any] = {**RECIPES[kind].arguments, **given}
    if kind in _LEVELS:
        number = _number(arguments.get(_LEVELS[kind]))
        return None if number is None else abs(number)
    if kind in _EXPONENTS or kind in _POWER:
        number = _number(arguments.get(_EXPONENTS.get(kind, "exponent")))
        return None if number is None or abs(number) >= 1000 else math.ldexp(1.0, int(number))
    return None


def _first_recipe(text: str) -> Mapping[str, Any]:
    try:
        tensors = json.loads(text)
    except ValueError:
        return {}
    if not isinstance(tensors, Mapping) or not tensors:
        return {}
    first = next(iter(tensors.values()))
    return first if isinstance(first, Mapping) else {}


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)
