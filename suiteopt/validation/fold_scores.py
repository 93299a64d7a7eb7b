"""What suites are worth fold by fold, and the sums over folds that are reported."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suiteopt.validation.figures import ProblemSplit

DISTINCT = "distinct"


@dataclass(frozen=True, eq=False)
class FoldScores:
    """What the suites chosen without each fold are worth on it.

    All arrays have one entry a fold of the split, 0 where the fold leaves the problem alone or
    would empty it; sums are over mutants, weighted so that each weighs 1 in every repeat.

    Attributes
    ----------
    problem : str
    repeats : int
    used : ndarray of bool
    excluded : int
        Folds that would have left nothing to train on.
    sizes, held_out, training, ceiling, single, random : ndarray of float64
        See `ProblemSplit`.
    own : ndarray of float64 or None
    trained : ndarray of int64
        Training mutants that the suite detects: by this, and by nothing held out, a parameter
        is chosen.
    views : mapping of str to ndarray of float64, shape (2, folds)
        Sizes and held-out detection of parts of the mutants: behaviours, those that show in an
        output, families.
    chosen : tuple of tuple of str or None
        Ids of the inputs.
    """

    problem: str
    repeats: int
    used: NDArray[np.bool_]
    excluded: int
    sizes: NDArray[np.float64]
    held_out: NDArray[np.float64]
    training: NDArray[np.float64]
    ceiling: NDArray[np.float64]
    single: NDArray[np.float64]
    random: NDArray[np.float64]
    own: NDArray[np.float64] | None
    trained: NDArray[np.int64]
    views: Mapping[str, NDArray[np.float64]]
    chosen: tuple[tuple[str, ...] | None, ...]

    def summed(self) -> ProblemSplit:
        """Add up over folds, as a mean over repeats."""
        repeats = float(self.repeats)
        if not self.used.any():
            return ProblemSplit.nothing(self.problem, self.excluded)

        def total(values: NDArray[np.float64]) -> float:
            return float(values.sum()) / repeats

        views = {
            name: (total(pair[0]), total(pair[1])) for name, pair in sorted(self.views.items())
        }
        behaviours, behaviours_held_out = views.pop(DISTINCT)
        return ProblemSplit(
            problem=self.problem,
            mutants=total(self.sizes),
            held_out=total(self.held_out),
            training=total(self.training),
            ceiling=total(self.ceiling),
            single=total(self.single),
            random=total(self.random),
            own=None if self.own is None else total(self.own),
            behaviours=behaviours,
            behaviours_held_out=behaviours_held_out,
            folds=int(self.used.sum()),
            excluded=self.excluded,
            stability=_stability([c for c in self.chosen if c is not None]),
            views=views,
        )


def mix(candidates: Sequence[FoldScores], choice: NDArray[np.intp]) -> FoldScores:
    """Take every fold's figures from the candidate that was chosen for it.

    Parameters
    ----------
    candidates : sequence of FoldScores
        Of the same problem and split, one a value of a parameter.
    choice : ndarray of intp, folds
        Positions in ``candidates``.
    """
    first = candidates[0]
    folds = np.arange(len(choice))

    def pick(name: str) -> NDArray[Any]:
        table: NDArray[Any] = np.array([getattr(scores, name) for scores in candidates])
        picked: NDArray[Any] = table[choice, folds]
        return picked

    views = {
        name: np.array([scores.views[name] for scores in candidates])[choice, :, folds].T
        for name in first.views
    }
    return FoldScores(
        problem=first.problem,
        repeats=first.repeats,
        used=first.used,
        excluded=first.excluded,
        own=None if first.own is None else pick("own"),
        views=views,
        chosen=tuple(candidates[c].chosen[fold] for fold, c in enumerate(choice)),
        **{
            name: pick(name)
            for name in (
                "sizes",
                "held_out",
                "training",
                "ceiling",
                "single",
                "random",
                "trained",
            )
        },
    )


def _stability(chosen: Sequence[tuple[str, ...]]) -> float | None:
    """Mean Jaccard index over all pairs of folds; two empty suites agree."""
    if len(chosen) < 2:
        return None
    numbers: dict[str, int] = {}
    pairs = [
        (fold, numbers.setdefault(name, len(numbers)))
        for fold, names in enumerate(chosen)
        for name in names
    ]
    member = np.zeros((len(chosen), max(len(numbers), 1)))
    for fold, column in pairs:
        member[fold, column] = 1.0
    shared = member @ member.T
    sizes = np.diag(shared)
    union = sizes[:, None] + sizes[None, :] - shared
    jaccard = np.where(union > 0, shared / np.maximum(union, 1.0), 1.0)
    return float(jaccard[np.triu_indices(len(chosen), 1)].mean())
