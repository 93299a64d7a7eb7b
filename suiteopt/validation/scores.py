"""One problem under one split: suites chosen without each fold, and scored on it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suiteopt.selection.case import Case, spans
from suiteopt.validation.baselines import random_detection
from suiteopt.validation.figures import FAMILY, OUTPUT, SplitFigures
from suiteopt.validation.fold_scores import DISTINCT, FoldScores
from suiteopt.validation.refit import Refits, Refitter
from suiteopt.validation.splits import Folds, Split
from suiteopt.validation.suites import InFolds, Plan


def score_folds(
    plan: Folds,
    span: slice,
    case: Case,
    refitter: Refitter,
    sets: NDArray[np.intp] | None = None,
) -> FoldScores:
    """Choose without every fold, and score on it.

    Parameters
    ----------
    plan : Folds
    span : slice
        Where the mutants of the problem stand in it.
    case : Case
    refitter : Refitter
        Of the case's instance.
    sets : ndarray of intp, optional
        Suites that were chosen for the used folds, as `Refitter.refit` takes them.
    """
    held, share = plan.held[:, span], plan.share[span]
    used = used_folds(held)
    refits = refitter.refit(held[used], sets) if used.any() else None
    return fold_scores(plan, share, held, used, case, refitter, refits)


def used_folds(held: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell which folds hold out mutants of a problem, and leave some; shape (folds,)."""
    return np.asarray(held.any(axis=1) & ~held.all(axis=1))


def to_choose(plan: Folds, found: Sequence[Case]) -> Plan:
    """Return what suites have to be chosen for, to score the folds of a split."""
    used = [used_folds(plan.held[:, span]) for span in spans(found)]
    return Plan(plan.held, plan.repeats, used)


def split_scores(
    plan: Folds,
    found: Sequence[Case],
    refitters: Sequence[Refitter],
    chosen: InFolds | None = None,
) -> tuple[FoldScores, ...]:
    """Score all problems over the folds of one plan, fold by fold."""
    sets = [None] * len(found) if chosen is None else chosen.sets
    return tuple(
        score_folds(plan, span, case, refitter, own)
        for span, case, refitter, own in zip(spans(found), found, refitters, sets, strict=True)
    )


def split_figures(
    split: Split,
    plan: Folds,
    found: Sequence[Case],
    refitters: Sequence[Refitter],
    chosen: InFolds | None = None,
) -> SplitFigures:
    """Cross-validate all problems over the folds of one plan.

    Parameters
    ----------
    split : Split
    plan : Folds
    found : sequence of Case
    refitters : sequence of Refitter
    chosen : InFolds, optional
        The suites of the folds, where another objective than plain coverage chose them.
    """
    rows = tuple(scores.summed() for scores in split_scores(plan, found, refitters, chosen))
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
