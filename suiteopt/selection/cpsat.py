"""Certificates by CP-SAT: one worker, a fixed seed and deterministic time, so that it repeats."""

import math
from importlib.metadata import version

import numpy as np

from suiteopt.selection.instance import Instance
from suiteopt.selection.limits import Limits
from suiteopt.selection.parts import clashes
from suiteopt.selection.result import Certificate


def certify_cpsat(
    instance: Instance, budget: int, incumbent: tuple[int, ...], limits: Limits
) -> Certificate:
    """Maximise detection with at most ``budget`` columns.

    Parameters
    ----------
    instance : Instance
        Rows may be merged; given kills are constants.
    budget : int
    incumbent : tuple of int
        Hinted together with what it covers: a hint on the columns alone may be lost.
    limits : Limits
    """
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    picks = [model.new_bool_var(f"x{column}") for column in range(len(instance.inputs))]
    model.add(sum(picks) <= budget)
    for group in clashes(instance):
        model.add_at_most_one([picks[column] for column in group])
    chosen = set(incumbent)
    for column, pick in enumerate(picks):
        model.add_hint(pick, column in chosen)
    covered, weights = [], []
    for row in np.flatnonzero(instance.given == 0):
        killers = np.flatnonzero(instance.kills[row])
        cover = model.new_bool_var(f"y{row}")
        model.add_bool_or([picks[column] for column in killers] + [~cover])
        model.add_hint(cover, bool(chosen.intersection(killers.tolist())))
        covered.append(cover)
        weights.append(int(instance.weights[row]))
    model.maximize(cp_model.LinearExpr.weighted_sum(covered, weights))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    solver.parameters.max_deterministic_time = limits.deterministic
    status = solver.solve(model)
    constant = int(instance.weights[instance.given > 0].sum())
    open_weight = sum(weights)
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        columns = tuple(column for column, pick in enumerate(picks) if solver.value(pick))
    else:
        columns = None
    proved = status == cp_model.OPTIMAL
    bound = solver.objective_value if proved else solver.best_objective_bound
    known = status != cp_model.UNKNOWN and math.isfinite(bound)
    return Certificate(
        columns=columns,
        bound=constant + (min(open_weight, math.floor(bound + 1e-6)) if known else open_weight),
        solver="cp-sat",
        version=version("ortools"),
    )
