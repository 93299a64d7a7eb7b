"""Figures of a cross-validation, and how they add up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from suiteopt.matrix.denominator import Denominator
from suiteopt.validation.controls import HeldOutControls
from suiteopt.validation.figures import SplitFigures, share_of
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
    """

    problem: str
    mutants: int
    fitted: int
    members: tuple[str, ...]
    pool: int
    random: float
    own: int | None
    first_own: int | None


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
    seconds: float = field(compare=False, default=0.0)

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
            "stability_share": self.primary.stability_share,
            "repeats": self.repeats,
            "denominator": str(self.denominator),
            "locked": self.locked,
            "label": self.label,
            "rows": [self._row(position) for position in range(len(self.problems))],
            "seconds": self.seconds,
        }

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
            "splits": {
                str(split): parts.problems[position].as_dict()
                for split, parts in self.splits.items()
            },
        }
