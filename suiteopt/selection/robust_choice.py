"""The suites of the held-out objective, at the strength that cross-validation asks for."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from suiteopt.matrix.store import Matrix
from suiteopt.selection.cases import Case
from suiteopt.selection.objective import score, strongest_first
from suiteopt.selection.result import Selection
from suiteopt.selection.robust import STRENGTHS, choose_strength
from suiteopt.selection.robust_tables import prepare
from suiteopt.selection.sites import site_groups
from suiteopt.selection.solve import solve

INNER = 5


def choose_robust(
    matrix: Matrix, found: Sequence[Case], budget: int, solver: str = "auto"
) -> tuple[tuple[Selection, ...], float]:
    """Choose for every problem, at one strength for all.

    The bound of each selection is that of plain coverage: what it gives up is in the open.
    """
    problems = prepare(matrix, found, budget)
    groups = site_groups([sites for case in found for sites in case.sites])
    everything = np.ones((1, len(groups)), dtype=np.bool_)
    strength = STRENGTHS[int(choose_strength(problems, everything, groups, INNER)[0])]
    chosen = []
    for problem in problems:
        best = problem.best(problem.pool.training(everything), np.array([[strength]]))
        instance = problem.case.instance
        plain = solve(instance, budget, solver)
        columns = problem.bank.sets[int(best[0, 0])]
        value = score(instance, columns)
        chosen.append(
            replace(
                plain,
                members=tuple(instance.inputs[c] for c in strongest_first(instance, columns)),
                detected=value.detected,
                alone=int(instance.weights[instance.kills[:, list(columns)].any(axis=1)].sum()),
                twice=value.twice,
                slack=value.slack,
                cost=-value.thrift,
                optima=None,
            )
        )
    return tuple(chosen), strength
