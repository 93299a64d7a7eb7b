"""Figures of one split: sums by problem, and how they add up."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from suiteopt.validation.baselines import lift
from suiteopt.validation.bootstrap import share_interval, sign_flip_p
from suiteopt.validation.splits import Split

OUTPUT = "output"
"""The view of the mutants that an exception or a wrong output witnesses."""

FAMILY = "family:"
"""Prefix of the views of one family each."""


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
    views : mapping of str to tuple of float
        Mutants and held-out detection of parts of them: ``output``, ``family:<name>``.
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
    views: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @classmethod
    def nothing(cls, problem: str, excluded: int) -> "ProblemSplit":
        """Every fold would have emptied the problem, or there was none."""
        return cls(
            problem=problem,
            mutants=0.0,
            held_out=0.0,
            training=0.0,
            ceiling=0.0,
            single=0.0,
            random=0.0,
            own=None,
            behaviours=0.0,
            behaviours_held_out=0.0,
            folds=0,
            excluded=excluded,
            stability=None,
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
    def own_difference_interval(self) -> tuple[float, float] | None:
        """Bootstrap interval of held out minus own draws, on the same resamples."""
        if self.own_share is None:
            return None
        return share_interval(
            [row.held_out - (row.own or 0.0) for row in self.problems],
            [row.mutants for row in self.problems],
        )

    @property
    def macro_share(self) -> float | None:
        """Mean over problems."""
        return mean([row.held_out_share for row in self.problems])

    def view(self, name: str) -> float | None:
        """Held-out detection of a part of the mutants."""
        pairs = [row.views[name] for row in self.problems if name in row.views]
        return share_of(sum(pair[1] for pair in pairs), sum(pair[0] for pair in pairs))

    @property
    def by_family(self) -> dict[str, float | None]:
        """Held-out detection by family."""
        names = sorted({name for row in self.problems for name in row.views})
        return {
            name.removeprefix(FAMILY): self.view(name) for name in names if name.startswith(FAMILY)
        }

    @property
    def distinct_share(self) -> float | None:
        """Mean over behaviours."""
        return share_of(
            sum(row.behaviours_held_out for row in self.problems),
            sum(row.behaviours for row in self.problems),
        )

    @property
    def stability_share(self) -> float | None:
        """Mean over problems."""
        values = [row.stability for row in self.problems if row.stability is not None]
        return sum(values) / len(values) if values else None

    def as_dict(self, fitted: float | None) -> dict[str, Any]:
        """JSON form, beside the fitted share."""
        held, oracle = self.held_out_share, self.share(lambda row: row.ceiling)
        random = self.share(lambda row: row.random)
        known = held is not None and oracle is not None and random is not None
        return {
            "held_out_share": held,
            "held_out_macro_share": self.macro_share,
            "held_out_by_family": self.by_family,
            "held_out_macro_family_share": mean(list(self.by_family.values())),
            "in_output_share": self.view(OUTPUT),
            "distinct_share": self.distinct_share,
            "gap_share": self.gap_share,
            "fitted_minus_held_out_share": (
                None if fitted is None or held is None else fitted - held
            ),
            "interval": _listed(self.interval),
            "gap_interval": _listed(self.gap_interval),
            "own_difference_interval": _listed(self.own_difference_interval),
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


def mean(shares: Sequence[float | None]) -> float | None:
    """Mean of the shares that there are."""
    known = [share for share in shares if share is not None]
    return sum(known) / len(known) if known else None


def _listed(interval: tuple[float, float] | None) -> list[float] | None:
    return None if interval is None else list(interval)


def share_of(part: float, whole: float) -> float | None:
    """Part of a whole; None where the whole is nothing."""
    return part / whole if whole else None
