"""Figures of one split: sums by problem, and how they add up."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from suiteopt.validation.baselines import lift
from suiteopt.validation.bootstrap import share_interval, sign_flip_p
from suiteopt.validation.splits import Split


@dataclass(frozen=True)
class ProblemSplit:
    """One problem under one split; sums over its held-out mutants, averaged over repeats.

    Attributes
    ----------
    mutants : float
        Held out and scored; less than all where folds were excluded.
    held_out : float
        Killed by the suite that was chosen without them.
    training : float
        The share of its own training mutants that the same suite kills, weighted by the size of
        the fold: ``training - held_out`` is the paired gap in mutants.
    ceiling, single, random, own : float
        The same mutants killed by the best suite on the fold itself, the best single input chosen
        without the fold, random inputs, and the own draws (None where there are none).
    behaviours, behaviours_held_out : float
        `mutants` and `held_out` with mutants of equal behaviour weighing one together.
    folds, excluded : int
        Folds that hold out a mutant of this problem; of those, folds that would have left none.
    stability : float or None
        Mean Jaccard index of the suites over all pairs of folds.
    """

    problem: str
    mutants: float
    held_out: float
    training: float
    ceiling: float
    single: float
    random: float
    own: float | None
    behaviours: float
    behaviours_held_out: float
    folds: int
    excluded: int
    stability: float | None

    @classmethod
    def nothing(cls, problem: str, excluded: int) -> "ProblemSplit":
        """Every fold would have emptied the problem, or there was none."""
        zeros = dict.fromkeys(("held_out", "training", "ceiling", "single", "random"), 0.0)
        return cls(
            problem=problem,
            mutants=0.0,
            own=None,
            behaviours=0.0,
            behaviours_held_out=0.0,
            folds=0,
            excluded=excluded,
            stability=None,
            **zeros,
        )

    @property
    def held_out_share(self) -> float | None:
        """Held-out detection of this problem."""
        return share_of(self.held_out, self.mutants)

    @property
    def gap_share(self) -> float | None:
        """Paired gap of this problem."""
        return share_of(self.training - self.held_out, self.mutants)

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "held_out_share": self.held_out_share,
            "gap_share": self.gap_share,
            "oracle_share": share_of(self.ceiling, self.mutants),
            "single_share": share_of(self.single, self.mutants),
            "random_share": share_of(self.random, self.mutants),
            "own_share": None if self.own is None else share_of(self.own, self.mutants),
            "folds": self.folds,
            "excluded": self.excluded,
            "stability_share": self.stability,
        }


@dataclass(frozen=True)
class SplitFigures:
    """All problems under one split."""

    split: Split
    folds: int
    problems: tuple[ProblemSplit, ...]

    def share(self, part: Callable[[ProblemSplit], float]) -> float | None:
        """Sum of a figure over problems, by all scored mutants."""
        return share_of(sum(map(part, self.problems)), sum(row.mutants for row in self.problems))

    @property
    def held_out_share(self) -> float | None:
        """Mean over mutants: the headline."""
        return self.share(lambda row: row.held_out)

    @property
    def gap_share(self) -> float | None:
        """Paired gap, mean over mutants."""
        return self.share(lambda row: row.training - row.held_out)

    @property
    def own_share(self) -> float | None:
        """Own draws on the same mutants; None where a problem does not have them."""
        scored = [row for row in self.problems if row.mutants]
        if any(row.own is None for row in scored):
            return None
        return self.share(lambda row: row.own or 0.0)

    @property
    def interval(self) -> tuple[float, float] | None:
        """Bootstrap interval of the held-out share; None under 20 problems."""
        return share_interval(
            [row.held_out for row in self.problems], [row.mutants for row in self.problems]
        )

    @property
    def gap_interval(self) -> tuple[float, float] | None:
        """Bootstrap interval of the gap, on the same resamples."""
        return share_interval(
            [row.training - row.held_out for row in self.problems],
            [row.mutants for row in self.problems],
        )

    @property
    def sign_flip_p(self) -> float | None:
        """Exact test of held-out share against own draws, problem by problem; under 20 of them."""
        scored = [row for row in self.problems if row.mutants]
        if self.own_share is None:
            return None
        return sign_flip_p([(row.held_out - (row.own or 0.0)) / row.mutants for row in scored])

    @property
    def stability_share(self) -> float | None:
        """Mean over problems."""
        values = [row.stability for row in self.problems if row.stability is not None]
        return sum(values) / len(values) if values else None

    def as_dict(self, fitted: float | None) -> dict[str, Any]:
        """JSON form, beside the fitted share."""
        held, oracle = self.held_out_share, self.share(lambda row: row.ceiling)
        random = self.share(lambda row: row.random)
        gap_interval, interval = self.gap_interval, self.interval
        macro = [share for row in self.problems if (share := row.held_out_share) is not None]
        known = held is not None and oracle is not None and random is not None
        return {
            "held_out_share": held,
            "held_out_macro_share": sum(macro) / len(macro) if macro else None,
            "distinct_share": share_of(
                sum(row.behaviours_held_out for row in self.problems),
                sum(row.behaviours for row in self.problems),
            ),
            "gap_share": self.gap_share,
            "fitted_minus_held_out_share": (
                None if fitted is None or held is None else fitted - held
            ),
            "interval": None if interval is None else list(interval),
            "gap_interval": None if gap_interval is None else list(gap_interval),
            "sign_flip_p": self.sign_flip_p,
            "oracle_share": oracle,
            "single_share": self.share(lambda row: row.single),
            "random_share": random,
            "own_share": self.own_share,
            "lift_share": lift(held or 0.0, random or 0.0, oracle or 0.0) if known else None,
            "stability_share": self.stability_share,
            "folds": self.folds,
            "excluded": sum(row.excluded for row in self.problems),
        }


def share_of(part: float, whole: float) -> float | None:
    """Part of a whole; None where the whole is nothing."""
    return part / whole if whole else None
