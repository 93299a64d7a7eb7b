"""Figures of a cross-validation, and how they add up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from suiteopt.matrix.denominator import Denominator
from suiteopt.selection.question import Objective, chosen_by
from suiteopt.validation.controls import HeldOutControls
from suiteopt.validation.denominators import Wide
from suiteopt.validation.figures import SplitFigures, mean, share_of
from suiteopt.validation.locked import LockedRules
from suiteopt.validation.nested import Nested
from suiteopt.validation.objectives import Duel
from suiteopt.validation.published import Published
from suiteopt.validation.sensitivity import Sensitivity
from suiteopt.validation.splits import Split


@dataclass(frozen=True)
class ProblemFigures:
    """One problem without folds; all counts of mutants.

    Attributes
    ----------
    fitted : int
        Detected by the suite chosen on all of them.
    members : tuple of str
        That suite.
    pool : int
        Detected by the whole pool.
    random : float
        Expected of random inputs, in closed form.
    own, first_own : int or None
        Detected by the first five own draws, and by the first.
    optima : int or None
        Suites that detect as much; None unless enumerated.
    minimal, minimal_fitted, minimal_own : int
        Mutants that no other one subsumes, and how many of them the suite and the own draws
        detect: the dominator score.
    behaviours, behaviours_fitted : int
        Different behaviours, and detected ones.
    flaky_cells : int
        Cells whose repeats disagree about the verdict.
    by_family : mapping of str to tuple of int
        Mutants, and those that the suite detects.
    """

    problem: str
    mutants: int
    fitted: int
    members: tuple[str, ...]
    pool: int
    random: float
    own: int | None
    first_own: int | None
    optima: int | None
    minimal: int
    minimal_fitted: int
    minimal_own: int | None
    behaviours: int
    behaviours_fitted: int
    flaky_cells: int
    by_family: Mapping[str, tuple[int, int]]


@dataclass(frozen=True)
class CrossValidation:
    """A cross-validation over a matrix, with every figure of ``suiteopt crossval``."""

    matrix_id: str
    label: str
    budget: int
    oracle: str
    target: str | None
    denominator: Denominator
    locked: bool
    solver: str
    repeats: int
    problems: tuple[ProblemFigures, ...]
    splits: Mapping[Split, SplitFigures]
    controls: HeldOutControls
    nested: Nested | None
    denominators: Mapping[Denominator, Wide]
    sensitivity: tuple[Sensitivity, ...]
    published: Published | None
    locked_rules: LockedRules | None
    tolerances: tuple[float, ...]
    objectives: Mapping[Split, Duel] | None
    objective: Objective = Objective.COVERAGE
    objective_reason: str | None = None
    strength: float | None = None
    seconds: float = field(compare=False, default=0.0)

    @property
    def chosen_by(self) -> str:
        """The objective, in words."""
        return chosen_by(self.objective, self.strength, self.objective_reason)

    @property
    def primary(self) -> SplitFigures:
        """The site split: no two edits of one expression on both sides."""
        return self.splits[Split.SITE]

    @property
    def mutants(self) -> int:
        """Mutants that count."""
        return sum(row.mutants for row in self.problems)

    @property
    def fitted_share(self) -> float | None:
        """Mean over mutants."""
        return self._share([row.fitted for row in self.problems])

    def _share(self, parts: Sequence[float | None]) -> float | None:
        known = [part for part in parts if part is not None]
        return share_of(sum(known), self.mutants) if len(known) == len(parts) else None

    def as_dict(self) -> dict[str, Any]:
        """JSON form: the keys of ``suiteopt crossval``."""
        primary = self.primary.as_dict(self.fitted_share)
        return {
            "budget": self.budget,
            "oracle": self.oracle,
            "target": self.target,
            "problems": len(self.problems),
            "mutants": self.mutants,
            "fitted_share": self.fitted_share,
            "fitted_macro_share": sum(r.fitted / r.mutants for r in self.problems)
            / len(self.problems),
            "splits": {
                str(split): figures.as_dict(self.fitted_share)
                for split, figures in self.splits.items()
            },
            "baselines": {
                "random_share": self._share([row.random for row in self.problems]),
                "own_share": self._share([row.own for row in self.problems]),
                "first_own_share": self._share([row.first_own for row in self.problems]),
                "single_share": primary["single_share"],
                "oracle_share": primary["oracle_share"],
                "pool_share": self._share([row.pool for row in self.problems]),
            },
            "controls": self.controls.as_dict(),
            "nested": None if self.nested is None else self.nested.as_dict(),
            "denominators": self._denominators(),
            "dominators": {
                "minimal": sum(row.minimal for row in self.problems),
                "fitted_share": share_of(
                    sum(row.minimal_fitted for row in self.problems),
                    sum(row.minimal for row in self.problems),
                ),
                "own_share": self._minimal_own(),
            },
            "sensitivity": [row.as_dict() for row in self.sensitivity],
            "published": None if self.published is None else self.published.as_dict(),
            "locked_rules": None if self.locked_rules is None else self.locked_rules.as_dict(),
            "objectives": (
                None
                if self.objectives is None
                else {str(split): duel.as_dict() for split, duel in self.objectives.items()}
            ),
            "objective": str(self.objective),
            "objective_reason": self.objective_reason,
            "strength": self.strength,
            "tolerances_tried": list(self.tolerances),
            "flaky_cells": sum(row.flaky_cells for row in self.problems),
            "stability_share": self.primary.stability_share,
            "repeats": self.repeats,
            "denominator": str(self.denominator),
            "locked": self.locked,
            "label": self.label,
            "rows": [self._row(position) for position in range(len(self.problems))],
            "seconds": self.seconds,
        }

    def _minimal_own(self) -> float | None:
        parts = [row.minimal_own for row in self.problems]
        known = [part for part in parts if part is not None]
        whole = sum(row.minimal for row in self.problems)
        return share_of(sum(known), whole) if len(known) == len(parts) else None

    def _denominators(self) -> dict[str, Any]:
        """All of them side by side; held out by site."""
        rows = {str(which): wide.as_dict() for which, wide in self.denominators.items()}
        families: dict[str, tuple[int, int]] = {}
        for row in self.problems:
            for name, (mutants, fitted) in row.by_family.items():
                before = families.get(name, (0, 0))
                families[name] = (before[0] + mutants, before[1] + fitted)
        behaviours = sum(row.behaviours for row in self.problems)
        rows["distinct"] = {
            "mutants": behaviours,
            "fitted_share": share_of(sum(r.behaviours_fitted for r in self.problems), behaviours),
            "held_out_share": self.primary.distinct_share,
        }
        rows["macro_problems"] = {
            "mutants": self.mutants,
            "fitted_share": mean([row.fitted / row.mutants for row in self.problems]),
            "held_out_share": self.primary.macro_share,
        }
        rows["macro_families"] = {
            "mutants": self.mutants,
            "fitted_share": mean([fitted / mutants for mutants, fitted in families.values()]),
            "held_out_share": mean(list(self.primary.by_family.values())),
        }
        return rows

    def _row(self, position: int) -> dict[str, Any]:
        figures = self.problems[position]
        return {
            "problem": figures.problem,
            "mutants": figures.mutants,
            "members": list(figures.members),
            "fitted_share": figures.fitted / figures.mutants,
            "random_share": figures.random / figures.mutants,
            "own_share": None if figures.own is None else figures.own / figures.mutants,
            "pool_share": figures.pool / figures.mutants,
            "optima": figures.optima,
            "minimal": figures.minimal,
            "minimal_fitted": figures.minimal_fitted,
            "flaky_cells": figures.flaky_cells,
            "splits": {
                str(split): parts.problems[position].as_dict()
                for split, parts in self.splits.items()
            },
        }
