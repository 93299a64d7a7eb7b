"""Checking what a user gave for an option of a target."""

import math

from suiteopt.errors import UserError


def positive(name: str, value: float) -> float:
    """Return a positive number.

    Raises
    ------
    UserError
        If it is none.
    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not (math.isfinite(number) and number > 0):
        raise UserError(f"the {name} '{value}' is no positive number; give one such as 1e-3")
    return number
