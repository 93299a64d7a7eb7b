"""A parameter that all problems share, chosen anew in every fold by what is trained on."""

from collections.abc import Callable, Sequence

import numpy as np

from suiteopt.matrix.oracle import Oracle
from suiteopt.matrix.store import Matrix
from suiteopt.selection.cases import Case, make_case
from suiteopt.selection.fixed import best_fixed, breakpoints, sample, with_tolerance, written_up
from suiteopt.selection.question import Question
from suiteopt.validation.controls import BLIND, OracleFor
from suiteopt.validation.figures import SplitFigures
from suiteopt.validation.fold_scores import mix
from suiteopt.validation.refit import Refitter
from suiteopt.validation.scores import split_scores
from suiteopt.validation.splits import Folds, Split
from suiteopt.validation.suites import InFolds

GRID = 16
"""Tolerances that are tried in every fold."""

ChooseSplits = Callable[
    [Split, Folds, Sequence[Case], Sequence[Refitter], InFolds | None], SplitFigures
]


def fixed_grid(matrix: Matrix, oracle: Oracle) -> tuple[float, ...]:
    """Tolerances to try: an even sample of the controls' breakpoints, the largest first.

    Which tolerances are tried depends on controls alone; which one is taken, on the training
    mutants.
    """
    points = breakpoints(matrix, oracle)
    return tuple(written_up(float(points[place])) for place in sample(len(points), GRID)[::-1])


def tolerance_without(matrix: Matrix, question: Question, budget: int, solver: str) -> OracleFor:
    """Return the best fixed tolerance that a kind of control had no say in, of all problems."""
    known: dict[str, Oracle] = {}

    def oracle_for(_: str, kind: str) -> Oracle:
        if kind == BLIND:
            return question.oracle
        if kind not in known:
            known[kind] = best_fixed(matrix, question, budget, solver, kind)
        return known[kind]

    return oracle_for


def across_tolerances(
    matrix: Matrix,
    question: Question,
    found: Sequence[Case],
    tolerances: Sequence[float],
    budget: int,
    solver: str,
) -> ChooseSplits:
    """Return a cross-validation in which every fold takes the tolerance it trains best at.

    Training detection is summed over all problems, since they share the tolerance; of equal ones
    the largest is taken.
    """
    alternatives = [
        [
            make_case(
                matrix, case.problem, with_tolerance(question, tolerance), case.block, like=case
            )
            for case in found
        ]
        for tolerance in tolerances
    ]
    tables = [[Refitter(case.instance, budget, solver) for case in cases] for cases in alternatives]

    def choose(
        split: Split,
        plan: Folds,
        _: Sequence[Case],
        __: Sequence[Refitter],
        ___: InFolds | None,
    ) -> SplitFigures:
        scores = [
            split_scores(plan, cases, refitters)
            for cases, refitters in zip(alternatives, tables, strict=True)
        ]
        trained = np.array([sum(part.trained for part in row) for row in scores])
        choice = trained.argmax(axis=0)
        problems = tuple(
            mix([row[place] for row in scores], choice).summed() for place in range(len(found))
        )
        return SplitFigures(split=split, folds=len(plan.held), problems=problems)

    return choose
