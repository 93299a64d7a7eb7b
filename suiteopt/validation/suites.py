"""The suites that are judged: those that `select` gives, by either objective."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from suiteopt.matrix.store import Matrix
from suiteopt.selection.cases import Case
from suiteopt.selection.instance import Instance
from suiteopt.selection.result import Selection
from suiteopt.selection.robust import Problem
from suiteopt.selection.robust_choice import Robust, fit_robust
from suiteopt.selection.robust_pool import Training
from suiteopt.selection.solve import solve
from suiteopt.selection.strength import fold_strengths
from suiteopt.threads import side_by_side
from suiteopt.validation.refit import Refitter

Choose = Callable[[Case, Instance], Sequence[str]]
"""Chooses the members of a problem's suite, maybe with other controls calibrating."""


@dataclass(frozen=True, eq=False)
class Plan:
    """Training sets for which suites are chosen, of all problems together.

    Attributes
    ----------
    held : ndarray of bool, shape (folds, all mutants)
        What nothing that is chosen may depend on.
    repeats : int
        How many these folds are, one behind the other.
    used : sequence of ndarray of bool, each shape (folds,)
        The folds for which the suite of each problem is wanted.
    """

    held: NDArray[np.bool_]
    repeats: int
    used: Sequence[NDArray[np.bool_]]


@dataclass(frozen=True, eq=False)
class InFolds:
    """What was chosen by the held-out objective for the folds of one plan.

    Attributes
    ----------
    strengths : ndarray of float64, shape (folds,)
    sets : tuple of ndarray of intp, each shape (used folds,)
        Positions in the bank of each problem.
    """

    strengths: NDArray[np.float64]
    sets: tuple[NDArray[np.intp], ...]


class Coverage:
    """Every problem by itself, by the faults that there are.

    Parameters
    ----------
    found : sequence of Case
    budget, solver : int, str
    """

    strength: float | None = None

    def __init__(self, found: Sequence[Case], budget: int, solver: str) -> None:
        self.found, self.budget, self.solver = found, budget, solver

    @cached_property
    def refitters(self) -> list[Refitter]:
        """What chooses for the folds, one a case."""
        return [Refitter(case.instance, self.budget, self.solver) for case in self.found]

    @cached_property
    def selections(self) -> tuple[Selection, ...]:
        """The suites chosen on all mutants, one a case."""
        return tuple(solve(case.instance, self.budget, self.solver) for case in self.found)

    def choose(self, _: Case, instance: Instance) -> Sequence[str]:
        """Choose under other tolerances: see `Choose`."""
        return solve(instance, self.budget, self.solver).members

    def in_folds(self, plans: Sequence[Plan]) -> list[InFolds | None]:
        """Nothing: the refitters choose fold by fold."""
        return [None for _ in plans]


class HeldOut(Coverage):
    """All problems together, by faults of the kinds that there are.

    Parameters
    ----------
    matrix : Matrix
    found : sequence of Case
    budget, solver : int, str
    """

    def __init__(self, matrix: Matrix, found: Sequence[Case], budget: int, solver: str) -> None:
        super().__init__(found, budget, solver)
        self.fitted: Robust = fit_robust(matrix, found, budget)
        self.strength = self.fitted.strength
        self._places = {case.problem: place for place, case in enumerate(found)}

    @cached_property
    def refitters(self) -> list[Refitter]:
        """Those of plain coverage, which share the tables of suites."""
        return [
            Refitter(problem.bank.instance, self.budget, self.solver, problem.bank)
            for problem in self.fitted.problems
        ]

    @cached_property
    def selections(self) -> tuple[Selection, ...]:
        """The suites chosen on all mutants, one a case."""
        return self.fitted.selections(self.solver)

    def choose(self, case: Case, instance: Instance) -> Sequence[str]:
        """Choose under other tolerances; the other problems and the strength stay."""
        if instance is case.instance:
            return self.selections[self._places[case.problem]].members
        return self.fitted.members(self._places[case.problem], instance)

    def in_folds(self, plans: Sequence[Plan]) -> list[InFolds | None]:
        """Choose for the folds of all plans, the strength of each fold without it."""
        problems = self.fitted.problems
        strengths = fold_strengths(problems, [(plan.held, plan.repeats) for plan in plans])
        found: list[InFolds | None] = []
        for plan, strength in zip(plans, strengths, strict=True):
            training = problems[0].pool.training(~plan.held)
            choose = partial(_in_fold, training, strength)
            found.append(
                InFolds(
                    strength, tuple(side_by_side(choose, zip(problems, plan.used, strict=True)))
                )
            )
        return found


def _in_fold(
    training: Training,
    strength: NDArray[np.float64],
    one: tuple[Problem, NDArray[np.bool_]],
) -> NDArray[np.intp]:
    problem, used = one
    best: NDArray[np.intp] = problem.best(training.some(used), strength[None, used])[0]
    return best
