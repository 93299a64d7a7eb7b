"""The suites of the held-out objective, at the strength that cross-validation asks for."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from suiteopt.matrix.store import Matrix
from suiteopt.selection.cases import Case
from suiteopt.selection.objective import score, strongest_first
from suiteopt.selection.result import Selection
from suiteopt.selection.robust import STRENGTHS, Problem, choose_strength
from suiteopt.selection.robust_tables import prepare
from suiteopt.selection.sites import site_groups
from suiteopt.selection.solve import solve

INNER = 5


def choose_robust(
    matrix: Matrix, found: Sequence[Case], budget: int, solver: str = "auto"
) -> tuple[tuple[Selection, ...], float]:
    """Choose for every problem, at one strength for all.

    The bound of each selection is that of plain coverage, so that what is given up is in the
    open; its status tells whether it is the best by this objective, at that strength.
    """
    problems = prepare(matrix, found, budget)
    groups = site_groups([sites for case in found for sites in case.sites])
    everything = np.ones((1, len(groups)), dtype=np.bool_)
    strength = STRENGTHS[int(choose_strength(problems, everything, groups, INNER)[0])]
    return tuple(
        _of_problem(problem, everything, strength, budget, solver) for problem in problems
    ), strength


def _of_problem(
    problem: Problem, everything: NDArray[np.bool_], strength: float, budget: int, solver: str
) -> Selection:
    instance = problem.case.instance
    best = problem.optimum(problem.pool.training(everything), strength)
    value = score(instance, best.columns)
    killed = instance.kills[:, list(best.columns)].any(axis=1)
    return replace(
        solve(instance, budget, solver),
        members=tuple(instance.inputs[c] for c in strongest_first(instance, best.columns)),
        detected=value.detected,
        alone=int(instance.weights[killed].sum()),
        twice=value.twice,
        slack=value.slack,
        cost=-value.thrift,
        optima=None,
        value=best.value,
        value_bound=best.bound,
    )
