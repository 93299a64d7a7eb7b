"""One problem under one split, fold by fold, and the sums that are reported."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suiteopt.selection.cases import Case
from suiteopt.validation.baselines import random_detection
from suiteopt.validation.figures import FAMILY, OUTPUT, ProblemSplit, SplitFigures
from suiteopt.validation.refit import Refits, Refitter
from suiteopt.validation.splits import Folds, Split

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


def score_folds(plan: Folds, span: slice, case: Case, refitter: Refitter) -> FoldScores:
    """Choose without every fold, and score on it.

    Parameters
    ----------
    plan : Folds
    span : slice
        Where the mutants of the problem stand in it.
    case : Case
    refitter : Refitter
        Of the case's instance.
    """
    held, share = plan.held[:, span], plan.share[span]
    used = np.asarray(held.any(axis=1) & ~held.all(axis=1))
    refits = refitter.refit(held[used]) if used.any() else None
    return fold_scores(plan, share, held, used, case, refitter, refits)


def split_scores(
    plan: Folds, found: Sequence[Case], refitters: Sequence[Refitter]
) -> tuple[FoldScores, ...]:
    """Score all problems over the folds of one plan, fold by fold."""
    rows = []
    start = 0
    for case, refitter in zip(found, refitters, strict=True):
        stop = start + len(case.instance.mutants)
        rows.append(score_folds(plan, slice(start, stop), case, refitter))
        start = stop
    return tuple(rows)


def split_figures(
    split: Split, plan: Folds, found: Sequence[Case], refitters: Sequence[Refitter]
) -> SplitFigures:
    """Cross-validate all problems over the folds of one plan."""
    rows = tuple(scores.summed() for scores in split_scores(plan, found, refitters))
    return SplitFigures(split=split, folds=len(plan.held), problems=rows)


def fold_scores(
    plan: Folds,
    share: NDArray[np.float64],
    held: NDArray[np.bool_],
    used: NDArray[np.bool_],
    case: Case,
    refitter: Refitter,
    refits: Refits | None,
) -> FoldScores:
    """Score suites that are chosen already; ``refits`` has one entry a used fold."""
    instance = case.instance
    folds = held[used]
    credit = folds * share  # used fold x mutant: what a mutant weighs where it is held out
    zeros = np.zeros((0, len(instance.mutants)), dtype=np.bool_)
    killed = refits.killed if refits is not None else zeros
    single = refits.single if refits is not None else zeros
    ceiling = refits.ceiling if refits is not None else np.zeros(0)
    sizes = credit.sum(axis=1)
    trained = (killed & ~folds).sum(axis=1)
    spread = _Spread(used)
    chosen = iter(refits.chosen if refits is not None else ())
    return FoldScores(
        problem=case.problem,
        repeats=plan.repeats,
        used=used,
        excluded=int((held.any(axis=1) & ~used).sum()),
        sizes=spread(sizes),
        held_out=spread((credit * killed).sum(axis=1)),
        training=spread(sizes * trained / np.maximum((~folds).sum(axis=1), 1)),
        ceiling=spread(sizes * ceiling / np.maximum(folds.sum(axis=1), 1)),
        single=spread((credit * single).sum(axis=1)),
        random=spread(credit @ random_detection(instance, refitter.budget)),
        own=None if case.own is None else spread(credit @ case.own),
        trained=spread(trained).astype(np.int64),
        views={
            name: np.array([spread(credit @ view), spread((credit * killed) @ view)])
            for name, view in _views(case).items()
        },
        chosen=tuple(
            tuple(instance.inputs[column] for column in next(chosen)) if fold else None
            for fold in used
        ),
    )


class _Spread:
    """Puts figures of the used folds into their places among all folds."""

    def __init__(self, used: NDArray[np.bool_]) -> None:
        self.used = used

    def __call__(self, values: NDArray[Any]) -> NDArray[np.float64]:
        whole = np.zeros(len(self.used))
        whole[self.used] = values
        return whole


def _views(case: Case) -> dict[str, NDArray[np.float64]]:
    """Weights over mutants of every part that is reported beside the headline."""
    families = np.array(case.families)
    return {
        DISTINCT: 1.0 / np.bincount(case.behaviours)[case.behaviours],
        OUTPUT: case.shows.astype(np.float64),
        **{FAMILY + name: (families == name).astype(np.float64) for name in np.unique(families)},
    }


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
