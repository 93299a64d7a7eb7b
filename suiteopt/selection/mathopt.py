"""Certificates by OR-tools' MathOpt: HiGHS or SCIP, as a mixed-integer or a linear programme."""

import math
from datetime import timedelta
from importlib.metadata import version

import numpy as np

from suiteopt.selection.instance import Instance
from suiteopt.selection.limits import Limits
from suiteopt.selection.parts import clashes
from suiteopt.selection.result import Certificate

BACKENDS = ("highs", "scip")


def certify_mathopt(
    instance: Instance,
    budget: int,
    incumbent: tuple[int, ...],
    limits: Limits,
    backend: str = "highs",
    relaxed: bool = False,
) -> Certificate:
    """Maximise detection with at most ``budget`` columns.

    Parameters
    ----------
    instance : Instance
        Rows may be merged; given kills are constants.
    budget : int
    incumbent : tuple of int
        Given as a start.
    limits : Limits
    backend : {"highs", "scip"}
    relaxed : bool
        Solve the linear relaxation: a bound only, no solution.
    """
    from ortools.math_opt.python import mathopt

    model = mathopt.Model(name="cover")
    picks = [
        model.add_variable(lb=0.0, ub=1.0, is_integer=not relaxed, name=f"x{column}")
        for column in range(len(instance.inputs))
    ]
    model.add_linear_constraint(mathopt.fast_sum(picks) <= budget)
    for group in clashes(instance):
        model.add_linear_constraint(mathopt.fast_sum(picks[column] for column in group) <= 1)
    chosen = set(incumbent)
    hint = {pick: float(column in chosen) for column, pick in enumerate(picks)}
    terms = []
    open_rows = np.flatnonzero(instance.given == 0)
    for row in open_rows:
        killers = np.flatnonzero(instance.kills[row])
        cover = model.add_variable(lb=0.0, ub=1.0, name=f"y{row}")
        model.add_linear_constraint(cover <= mathopt.fast_sum(picks[column] for column in killers))
        hint[cover] = float(bool(chosen.intersection(killers.tolist())))
        terms.append(float(instance.weights[row]) * cover)
    model.maximize(mathopt.fast_sum(terms))
    solver = mathopt.SolverType.HIGHS if backend == "highs" else mathopt.SolverType.GSCIP
    parameters = mathopt.SolveParameters(
        time_limit=timedelta(seconds=limits.seconds),
        node_limit=limits.nodes,
        relative_gap_tolerance=0.0,
        absolute_gap_tolerance=0.0,
        random_seed=0,
        threads=None if backend == "highs" else 1,  # MathOpt's HiGHS takes no thread count
    )
    hints = [] if relaxed else [mathopt.SolutionHint(variable_values=hint)]
    result = mathopt.solve(
        model,
        solver,
        params=parameters,
        model_params=mathopt.ModelSolveParameters(solution_hints=hints),
    )
    columns = None
    if result.has_primal_feasible_solution() and not relaxed:
        values = result.variable_values(picks)
        columns = tuple(column for column, value in enumerate(values) if value > 0.5)
    constant = int(instance.weights[instance.given > 0].sum())
    open_weight = int(instance.weights[open_rows].sum())
    bound = result.best_objective_bound()
    if math.isfinite(bound):
        open_weight = min(open_weight, math.floor(bound + 1e-6))
    name = f"mathopt:{backend}" + ("-relaxation" if relaxed else "")
    return Certificate(columns, constant + open_weight, name, version("ortools"))
