"""The best inputs within a budget by this project and by others, side by side in one process.

Models are built by each rival's own interface, as a user would; building counts. apricot is no
dependency of this project: install ``apricot-select`` to have its row.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from suiteopt.selection.instance import Instance
from suiteopt.selection.objective import score
from suiteopt.selection.solve import solve

Rival = Callable[[Instance, int, float], Sequence[int]]


def by_suiteopt(instance: Instance, budget: int, seconds: float) -> Sequence[int]:
    """Choose as `suiteopt select` does."""
    members = solve(instance, budget).members
    return [instance.inputs.index(name) for name in members]


def by_greedy(instance: Instance, budget: int, seconds: float) -> Sequence[int]:
    """Choose by lazy greedy with exchanges, without a certificate."""
    members = solve(instance, budget, "greedy").members
    return [instance.inputs.index(name) for name in members]


def by_apricot(instance: Instance, budget: int, seconds: float) -> Sequence[int]:
    """Maximise apricot's coverage function; dense, and it chooses exactly as many as asked."""
    from apricot import MaxCoverageSelection

    chooser = MaxCoverageSelection(budget, optimizer="lazy")
    chooser.fit(instance.kills.T.astype(np.float64), sample_cost=None)
    return [int(column) for column in chooser.ranking]


def by_highspy(instance: Instance, budget: int, seconds: float) -> Sequence[int]:
    """Let HiGHS solve the usual model: a mutant counts if a chosen input kills it."""
    import highspy

    mutants, inputs = instance.kills.shape
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("time_limit", seconds)
    taken = [solver.addBinary() for _ in range(inputs)]
    dies = [solver.addVariable(0.0, 1.0) for _ in range(mutants)]
    solver.addConstr(solver.qsum(taken) <= budget)
    for row in range(mutants):
        killers = np.flatnonzero(instance.kills[row])
        solver.addConstr(dies[row] <= solver.qsum(taken[column] for column in killers))
    solver.maximize(solver.qsum(dies))
    values = solver.vals(taken)
    return [column for column, value in enumerate(values) if value > 0.5]


def by_cp_sat(instance: Instance, budget: int, seconds: float) -> Sequence[int]:
    """Let CP-SAT solve it with one worker."""
    from ortools.sat.python import cp_model

    mutants, inputs = instance.kills.shape
    model = cp_model.CpModel()
    taken = [model.new_bool_var("") for _ in range(inputs)]
    dies = [model.new_bool_var("") for _ in range(mutants)]
    model.add(sum(taken) <= budget)
    for row in range(mutants):
        killers = [taken[column] for column in np.flatnonzero(instance.kills[row])]
        model.add_bool_or([*killers, dies[row].negated()])
    model.maximize(sum(dies))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers, solver.parameters.max_time_in_seconds = 1, seconds
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return []
    return [column for column, variable in enumerate(taken) if solver.value(variable)]


def by_cbc(instance: Instance, budget: int, seconds: float) -> Sequence[int]:
    """Let CBC solve it by way of PuLP."""
    import pulp

    mutants, inputs = instance.kills.shape
    model = pulp.LpProblem("budget", pulp.LpMaximize)
    taken = [pulp.LpVariable(f"x{column}", cat="Binary") for column in range(inputs)]
    dies = [pulp.LpVariable(f"y{row}", 0, 1) for row in range(mutants)]
    model += pulp.lpSum(dies)
    model += pulp.lpSum(taken) <= budget
    for row in range(mutants):
        killers = np.flatnonzero(instance.kills[row])
        model += dies[row] <= pulp.lpSum(taken[column] for column in killers)
    model.solve(pulp.PULP_CBC_CMD(msg=False, threads=1, timeLimit=seconds))
    return [column for column, variable in enumerate(taken) if (variable.value() or 0.0) > 0.5]


RIVALS: dict[str, Rival] = {
    "suiteopt (auto)": by_suiteopt,
    "suiteopt (greedy and exchanges)": by_greedy,
    "apricot": by_apricot,
    "highspy": by_highspy,
    "CP-SAT": by_cp_sat,
    "PuLP + CBC": by_cbc,
}


def side_by_side(
    instances: Sequence[Instance], budget: int, seconds: float
) -> list[dict[str, Any]]:
    """Let every rival choose on every instance; medians, and times as ratios to the first."""
    rows: list[dict[str, Any]] = []
    for name, rival in RIVALS.items():
        if name == "apricot" and find_spec("apricot") is None:
            rows.append({"solver": name, "absent": "apricot-select is not installed"})
            continue
        if len(instances) > 1:
            rival(instances[0], budget, seconds)  # imports and compilation are not measured
        walls, processors, detected = [], [], []
        for instance in instances:
            wall, processor = time.perf_counter(), time.process_time()
            chosen = rival(instance, budget, seconds)
            walls.append(time.perf_counter() - wall)
            processors.append(time.process_time() - processor)
            detected.append(score(instance, sorted(chosen)).detected if len(chosen) else 0)
        rows.append(
            {
                "solver": name,
                "median_seconds": statistics.median(walls),
                "median_processor_seconds": statistics.median(processors),
                "detected": detected,
            }
        )
    first = rows[0]["median_seconds"]
    best = [max(values) for values in zip(*(r["detected"] for r in rows if "detected" in r))]  # noqa: B905
    for row in rows:
        if "detected" in row:
            row["time_ratio"] = row["median_seconds"] / first
            row["below_best"] = sum(d < b for d, b in zip(row["detected"], best, strict=True))
            row["detected"] = sum(row["detected"])
    return rows
