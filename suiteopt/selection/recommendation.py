"""What is recommended for a problem that nobody has measured, and what it was worth elsewhere."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from suiteopt.selection.result import Selection


@dataclass(frozen=True)
class Recipe:
    """An input without its problem."""

    values: str
    parameters: str
    shape: str

    def __str__(self) -> str:
        parameters = "" if self.parameters == "benchmark" else f":{self.parameters}"
        return self.values + parameters + ("" if self.shape == "contract" else f"@{self.shape}")

    def as_dict(self) -> dict[str, str]:
        """JSON form."""
        return {
            "name": str(self),
            "values": self.values,
            "parameters": self.parameters,
            "shape": self.shape,
        }


@dataclass(frozen=True)
class LeftOut:
    """One problem and the recipes that were chosen without it.

    Attributes
    ----------
    problem : str
    operation : str
    mutants, detected : int
    own : int or None
        Detected by the benchmark's own draws.
    best : int
        Detected by the best suite of as many inputs chosen on the problem itself.
    recipes : tuple of Recipe
    missing : tuple of Recipe
        Those of them that the problem's pool lacks, or on which a correct kernel fails.
    """

    problem: str
    operation: str
    mutants: int
    detected: int
    own: int | None
    best: int
    recipes: tuple[Recipe, ...]
    missing: tuple[Recipe, ...]

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "problem": self.problem,
            "operation": self.operation,
            "mutants": self.mutants,
            "detected_share": self.detected / self.mutants if self.mutants else None,
            "own_share": (
                None if self.own is None or not self.mutants else self.own / self.mutants
            ),
            "best_share": self.best / self.mutants if self.mutants else None,
            "recipes": [str(recipe) for recipe in self.recipes],
            "missing": [str(recipe) for recipe in self.missing],
        }


@dataclass(frozen=True)
class Recommendation:
    """The recipes, and what leaving one problem out says of them.

    Attributes
    ----------
    oracle : str
    budget : int
    operation : str or None
        Where only problems of one operation class were asked.
    recipes : tuple of Recipe
    problems : tuple of int
        In how many problems each recipe can be chosen.
    selection : Selection
        What was proved, in parts of `PROBLEM_WEIGHT` a problem.
    left_out : tuple of LeftOut
    """

    oracle: str
    budget: int
    operation: str | None
    recipes: tuple[Recipe, ...]
    problems: tuple[int, ...]
    selection: Selection
    left_out: tuple[LeftOut, ...]

    def as_dict(self) -> dict[str, Any]:
        """JSON form: the keys of ``suiteopt recommend``."""
        mutants = sum(row.mutants for row in self.left_out)
        own = [row.own for row in self.left_out if row.own is not None]
        return {
            "oracle": self.oracle,
            "budget": self.budget,
            "operation": self.operation,
            "recipes": [
                {**recipe.as_dict(), "problems": count}
                for recipe, count in zip(self.recipes, self.problems, strict=True)
            ],
            "fitted_macro_share": self.selection.detected / self.selection.total,
            "bound_share": self.selection.bound / self.selection.total,
            "status": str(self.selection.status),
            "optima": self.selection.optima,
            "left_out_share": sum(row.detected for row in self.left_out) / mutants,
            "left_out_macro_share": float(
                np.mean([row.detected / row.mutants for row in self.left_out])
            ),
            "own_share": sum(own) / mutants if len(own) == len(self.left_out) else None,
            "best_share": sum(row.best for row in self.left_out) / mutants,
            "rows": [row.as_dict() for row in self.left_out],
        }
