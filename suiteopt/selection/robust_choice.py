"""The suites of the held-out objective, at the strength that cross-validation asks for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from suiteopt.matrix.store import Matrix
from suiteopt.selection.cases import Case
from suiteopt.selection.instance import Instance
from suiteopt.selection.objective import score, strongest_first
from suiteopt.selection.result import Selection
from suiteopt.selection.robust import STRENGTHS, Optimum, Problem
from suiteopt.selection.robust_pool import Training
from suiteopt.selection.robust_tables import Tables, tables
from suiteopt.selection.sites import site_groups
from suiteopt.selection.solve import solve
from suiteopt.selection.strength import choose_strength

INNER = 5


@dataclass(frozen=True, eq=False)
class Robust:
    """Everything that the held-out objective chooses by, with nothing left out.

    Attributes
    ----------
    tables : Tables
    problems : tuple of Problem
    strength : float
        One for all problems, chosen by cross-validation by site.
    """

    tables: Tables
    problems: tuple[Problem, ...]
    strength: float

    def selections(self, solver: str = "auto") -> tuple[Selection, ...]:
        """Choose for every problem.

        The bound of each selection is that of plain coverage, so that what is given up is in the
        open; its status tells whether it is the best by this objective, at this strength. At
        strength 0 the choice is that of plain coverage. Where no fault counts nothing is chosen:
        what that would be worth is measured nowhere.
        """
        return tuple(self._selection(problem, solver) for problem in self.problems)

    def members(self, place: int, instance: Instance) -> tuple[str, ...]:
        """Choose for one problem under other tolerances; the other problems stay as they are."""
        key = (place, instance.inputs, instance.kills.tobytes(), instance.given.tobytes())
        columns = self._known.get(key)
        if columns is None:
            best = self._optimum(self.tables.problem(place, instance))
            columns = best.columns
            if best.unique:  # slack, by which ties are broken, may be another one next time
                self._known[key] = columns
        return tuple(instance.inputs[c] for c in strongest_first(instance, columns))

    def _optimum(self, problem: Problem) -> Optimum:
        return problem.optimum(self._everything, self.strength)

    @cached_property
    def _known(self) -> dict[tuple[int, tuple[str, ...], bytes, bytes], tuple[int, ...]]:
        """Suites that were chosen for other tolerances: different ones often kill the same."""
        return {}

    @cached_property
    def _everything(self) -> Training:
        pool = self.tables.pool
        return pool.training(np.ones((1, len(pool.labels)), dtype=np.bool_))

    def _selection(self, problem: Problem, solver: str) -> Selection:
        instance = problem.case.instance
        plain = solve(instance, self.tables.budget, solver)
        if not instance.total or (not self.strength and plain.optima is not None):
            return plain
        best = self._optimum(problem)
        value = score(instance, best.columns)
        killed = instance.kills[:, list(best.columns)].any(axis=1)
        return replace(
            plain,
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


def fit_robust(matrix: Matrix, found: Sequence[Case], budget: int) -> Robust:
    """Table all problems, and choose the strength.

    Raises
    ------
    UserError
        If there are too many small suites to table.
    """
    whole = tables(matrix, found, budget)
    problems = tuple(whole.problem(place) for place in range(len(found)))
    groups = site_groups([sites for case in found for sites in case.sites])
    everything = np.ones((1, len(groups)), dtype=np.bool_)
    strength = STRENGTHS[int(choose_strength(problems, everything, groups, INNER)[0])]
    return Robust(whole, problems, strength)
