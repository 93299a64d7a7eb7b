"""Refusing arguments with which a recipe could not be made, before they are in a benchmark."""

from collections.abc import Mapping
from typing import Any

from suiteopt.inputs.recipes import RECIPES

STRUCTURES = frozenset(
    {
        "none",
        "diagonal",
        "symmetric",
        "lower_triangular",
        "upper_triangular",
        "probability_rows",
        "signs",
        "mask",
        "class_ids",
    }
)
_EXPONENTS = (-149, 127)
_COUNTS = (1, (1 << 31) - 1)
LIMITS: Mapping[str, tuple[int, int]] = {
    # float32's own powers of two
    "exponent": _EXPONENTS,
    "low": _EXPONENTS,
    "high": _EXPONENTS,
    "spread": _EXPONENTS,
    "span": _EXPONENTS,
    "lift": _EXPONENTS,
    "one_in": _COUNTS,
    "tile": _COUNTS,
    "modulus": _COUNTS,
    "axes": (1, 64),
    # one table entry, or one pass over the row, each
    "count": (1, 1 << 16),
    "levels": (0, 1 << 20),
    "width": (0, 1 << 24),
    "sixteenths": (0, 1 << 20),
    "numerator": (-(1 << 31), 1 << 31),
    "offset": (-(1 << 31), 1 << 31),
    "heat": (-(1 << 31), 1 << 31),
    "depth": (-(1 << 31), 1 << 31),
}
WORDS: Mapping[str, frozenset[str]] = {
    "place": frozenset({"first", "last", "random"}),
    "special": frozenset({"nan", "inf", "mixed"}),
    # What is itself made from a base is none.
    "base": frozenset(
        name
        for name, recipe in RECIPES.items()
        if "base" not in recipe.arguments and not recipe.nonfinite
    ),
}


def argument_fault(name: str, arguments: Mapping[str, Any]) -> str:
    """Return what is wrong with the arguments of a known recipe; empty where nothing is.

    Arguments have the type of their default, lie within bounds, and are words that the recipe
    knows; names are the recipe's own business (`suiteopt.inputs.recipes.integer_bound`).
    """
    known = RECIPES[name].arguments
    for argument, given in arguments.items():
        value, default = given, known.get(argument)
        if type(given) is not type(default):
            return f"the argument '{argument}' of the recipe '{name}' is of a wrong type"
        if argument in WORDS and value not in WORDS[argument]:
            return f"the recipe '{name}' knows no {argument} of this name"
        if argument in LIMITS:
            low, high = LIMITS[argument]
            if (name, argument) == ("heavy-tail", "levels"):
                low, high = 1, 16
            if not low <= value <= high:
                return f"the argument '{argument}' of the recipe '{name}' is not in {low} to {high}"
    whole = {**known, **arguments}
    # Of lanes these are the scales of even and odd rows, of the others the ends of a range.
    if "low" in whole and name != "lanes" and whole["low"] > whole["high"]:
        return f"the recipe '{name}' has its lowest power of two above its highest"
    return ""


def structure_fault(recipe: Mapping[str, Any]) -> str:
    """Return what is wrong with the structure that a recipe is given; empty where nothing is."""
    structure, classes = recipe.get("structure", "none"), recipe.get("classes", 0)
    if not isinstance(structure, str) or structure not in STRUCTURES:
        return "its structure is unknown to this version of suiteopt"
    if type(classes) is not int or not 0 <= classes < 1 << 31:
        return "its number of classes is none"
    if structure == "class_ids" and classes == 0:
        return "it has class ids and no number of classes"
    return ""
