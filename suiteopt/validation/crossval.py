"""Fitted, held-out and gap over a whole matrix: what ``suiteopt crossval`` answers."""

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from suiteopt.errors import UserError
from suiteopt.matrix.denominator import Denominator
from suiteopt.matrix.oracle import Oracle
from suiteopt.matrix.store import Matrix
from suiteopt.selection.cases import Case, cases
from suiteopt.selection.constraints import Capabilities, check_budget
from suiteopt.selection.instance import Instance
from suiteopt.selection.question import ask
from suiteopt.selection.solve import parse_solver, solve
from suiteopt.validation.baselines import random_detection
from suiteopt.validation.controls import hold_out_controls
from suiteopt.validation.figures import ProblemSplit, SplitFigures
from suiteopt.validation.refit import Refits, refit
from suiteopt.validation.result import CrossValidation, ProblemFigures
from suiteopt.validation.splits import (
    Folds,
    Split,
    label_folds,
    random_folds,
    site_folds,
    site_groups,
)

FOLDS = 5
REPEATS = 20


def cross_validate(
    matrix: Matrix,
    budget: int,
    oracle: Oracle | str | None = None,
    *,
    capabilities: Capabilities | None = None,
    target: str | None = None,
    solver: str = "auto",
    folds: int = FOLDS,
    repeats: int = REPEATS,
    seed: int = 0,
    denominator: Denominator = Denominator.WITNESSED,
    locked: bool = False,
    allow_incomplete: bool = False,
) -> CrossValidation:
    """Measure how well suites do on faults that they were not chosen on.

    In every fold the whole procedure is run again on the mutants outside it. Random and site
    folds are repeated with other seeds; rules and families are left out one at a time.

    Parameters
    ----------
    matrix : Matrix
    budget : int
    oracle, capabilities, target, solver, denominator, locked, allow_incomplete
        As `suiteopt.selection.select.select` takes them.
    folds, repeats : int
        Folds a repeat, and repeats, of the random and the site split.
    seed : int

    Raises
    ------
    UserError
        For a budget, oracle or matrix that makes no answer possible, or fewer than two mutants.
    """
    started = time.perf_counter()
    check_budget(budget, capabilities)
    parse_solver(solver)
    if folds < 2 or repeats < 1:
        raise UserError("cross-validation needs at least 2 folds and 1 repeat")
    question = ask(oracle, capabilities, denominator, locked, allow_incomplete)
    found = [case for case in cases(matrix, question) if case.instance.total]
    mutants = sum(len(case.instance.mutants) for case in found)
    if mutants < 2:
        raise UserError(
            f"the matrix at {matrix.path} has {mutants} mutants that count, and cross-validation "
            "needs at least 2; measure more or choose another denominator"
        )
    splits = {
        split: _split(split, plan, found, budget, solver)
        for split, plan in _plans(found, folds, repeats, seed).items()
    }
    return CrossValidation(
        matrix_id=matrix.id,
        label=matrix.meta.label,
        budget=budget,
        oracle=question.oracle.name,
        target=target,
        denominator=denominator,
        locked=locked,
        solver=solver,
        repeats=repeats,
        problems=tuple(_figures(case, budget, solver) for case in found),
        splits=splits,
        controls=hold_out_controls(matrix, question, found, budget, solver),
        seconds=time.perf_counter() - started,
    )


def _plans(found: Sequence[Case], folds: int, repeats: int, seed: int) -> dict[Split, Folds]:
    """Folds over the mutants of all problems, one behind the other."""
    families = [family for case in found for family in case.families]
    homes = [case.problem for case in found for _ in case.families]
    strata = list(zip(homes, families, strict=True))
    groups = site_groups([sites for case in found for sites in case.sites])
    return {
        Split.RANDOM: random_folds(strata, folds, repeats, seed),
        Split.SITE: site_folds(groups, folds, repeats, seed),
        Split.RULE: label_folds([rules for case in found for rules in case.rules]),
        Split.FAMILY: label_folds([(family,) for family in families]),
    }


def _split(
    split: Split, plan: Folds, found: Sequence[Case], budget: int, solver: str
) -> SplitFigures:
    rows = []
    start = 0
    for case in found:
        stop = start + len(case.instance.mutants)
        rows.append(_problem_split(plan, slice(start, stop), case, budget, solver))
        start = stop
    return SplitFigures(split=split, folds=len(plan.held), problems=tuple(rows))


def _problem_split(plan: Folds, span: slice, case: Case, budget: int, solver: str) -> ProblemSplit:
    """Figures of one problem under one split, as sums in units of mutants a repeat."""
    held, share = plan.held[:, span], plan.share[span]
    instance = case.instance
    touched = held.any(axis=1)
    emptied = held.all(axis=1)
    used = touched & ~emptied
    folds = held[used]
    if not len(folds):
        return ProblemSplit.nothing(case.problem, int(emptied.sum()))
    refits = refit(instance, folds, budget, solver)
    credit = folds * share  # fold x mutant: what a mutant weighs where it is held out
    sizes = credit.sum(axis=1)
    training = (refits.killed & ~folds).sum(axis=1) / (~folds).sum(axis=1)
    own = case.own if case.own is not None else np.zeros(len(instance.mutants), dtype=np.bool_)
    distinct = credit / np.bincount(case.behaviours)[case.behaviours]
    repeats = float(plan.repeats)
    return ProblemSplit(
        problem=case.problem,
        mutants=float(sizes.sum()) / repeats,
        held_out=float((credit * refits.killed).sum()) / repeats,
        training=float((sizes * training).sum()) / repeats,
        ceiling=_ceiling(refits, folds, sizes) / repeats,
        single=float((credit * refits.single).sum()) / repeats,
        random=float((credit * random_detection(instance, budget)).sum()) / repeats,
        own=float((credit * own).sum()) / repeats if case.own is not None else None,
        behaviours=float(distinct.sum()) / repeats,
        behaviours_held_out=float((distinct * refits.killed).sum()) / repeats,
        folds=len(folds),
        excluded=int(emptied.sum()),
        stability=_stability(refits.chosen, len(instance.inputs)),
    )


def _ceiling(refits: Refits, folds: NDArray[np.bool_], sizes: NDArray[np.float64]) -> float:
    """Held-out weight that the best suite for each fold kills, as a share of the fold's size."""
    return float((sizes * refits.ceiling / folds.sum(axis=1)).sum())


def _stability(chosen: Sequence[tuple[int, ...]], inputs: int) -> float | None:
    """Mean Jaccard index over all pairs of folds; two empty suites agree."""
    if len(chosen) < 2:
        return None
    member = np.zeros((len(chosen), inputs))
    for fold, columns in enumerate(chosen):
        member[fold, list(columns)] = 1.0
    shared = member @ member.T
    sizes = np.diag(shared)
    union = sizes[:, None] + sizes[None, :] - shared
    jaccard = np.where(union > 0, shared / np.maximum(union, 1.0), 1.0)
    pairs = np.triu_indices(len(chosen), 1)
    return float(jaccard[pairs].mean())


def _figures(case: Case, budget: int, solver: str) -> ProblemFigures:
    """Figures of one problem that need no folds."""
    instance: Instance = case.instance
    selection = solve(instance, budget, solver)
    return ProblemFigures(
        problem=case.problem,
        mutants=instance.total,
        fitted=selection.detected,
        members=selection.members,
        pool=instance.ceiling,
        random=float(random_detection(instance, budget).sum()),
        own=None if case.own is None else int(case.own.sum()),
        first_own=None if case.first_own is None else int(case.first_own.sum()),
    )
