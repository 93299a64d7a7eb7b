"""Full covers by this project and by others, each in a process of its own: time and peak memory.

Run as ``python -m experiments.cover_rivals INSTANCE SOLVER SECONDS``; prints one JSON object.
INSTANCE is ``uniform:<rows>:<columns>:<kills a row>`` or the path of an OR-Library file.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from experiments.memory import peak_mib
from suiteopt.console import run_script

RIVALS = ("suiteopt", "suiteopt+exact", "ortools.set_cover", "highspy", "cp-sat", "pulp+cbc")


def uniform(rows: int, columns: int, kills: int) -> csr_array:
    """Draw the same number of killers for every row; duplicates within a row fall together."""
    random = np.random.default_rng(5)
    cells = random.integers(0, columns, (rows, kills), dtype=np.int32)
    cells.sort(axis=1)
    fresh = np.ones(cells.shape, dtype=np.bool_)
    fresh[:, 1:] = cells[:, 1:] != cells[:, :-1]
    indices, ends = cells[fresh], np.concatenate([[0], fresh.sum(axis=1).cumsum()])
    data = np.ones(len(indices), dtype=np.bool_)
    return csr_array((data, indices, ends.astype(np.int32)), shape=(rows, columns))


def read_orlib(path: Path) -> tuple[csr_array, NDArray[np.int64]]:
    """Read a set-cover instance: by row for scp files, by column for rail files."""
    numbers = np.array(path.read_text().split(), dtype=np.int64)
    rows, columns = int(numbers[0]), int(numbers[1])
    pairs: list[NDArray[np.int64]] = []
    costs = numbers[2 : 2 + columns].copy()
    by_row = not path.name.startswith("rail")
    place = 2 + columns if by_row else 2
    for outer in range(rows if by_row else columns):
        if not by_row:
            costs[outer] = numbers[place]
            place += 1
        count = int(numbers[place])
        inner = numbers[place + 1 : place + 1 + count] - 1
        pairs.append(np.column_stack([np.full(count, outer), inner]))
        place += 1 + count
    table = np.concatenate(pairs)
    if not by_row:
        table = table[:, ::-1]
    ones = np.ones(len(table), dtype=np.bool_)
    return csr_array((ones, (table[:, 0], table[:, 1])), shape=(rows, columns)), costs


def cover(
    name: str, matrix: csr_array, costs: NDArray[np.int64], seconds: float
) -> tuple[list[int], float | None]:
    """Return the columns that a solver takes, model building included, and its bound."""
    if name.startswith("suiteopt"):
        from suiteopt.selection.cover import minimum_cover

        found = minimum_cover(matrix, costs, seconds if name.endswith("exact") else 0.0)
        return list(found.columns), float(found.bound)
    if name == "ortools.set_cover":
        return _set_cover(matrix, costs, seconds), None
    return {"highspy": _highs, "cp-sat": _cp_sat, "pulp+cbc": _cbc}[name](matrix, costs, seconds)


def uncovered(matrix: csr_array, columns: list[int]) -> int:
    """Count the rows that no chosen column kills, from the instance and not from a solver."""
    chosen = np.zeros(matrix.shape[1], dtype=np.int64)
    chosen[columns] = 1
    return int((matrix.astype(np.int64) @ chosen == 0).sum())


def _set_cover(matrix: csr_array, costs: NDArray[np.int64], seconds: float) -> list[int]:
    """Greedy and steepest descent, then half of the time guided local search, half removal.

    Guided local search keeps coverage alone and leaves the number of uncovered elements as it
    was: it says 0 where elements are uncovered. So the invariant is computed anew after each
    round, the greedy generator covers what is open, and descent takes out what is redundant. The
    second half clears columns at random and covers again, which is the better of the two on most
    instances and the worse on some.
    """
    from ortools.set_cover.python import set_cover

    started = time.perf_counter()
    model = set_cover.SetCoverModel()
    by_column = matrix.tocsc()
    for column, cost in enumerate(costs.tolist()):
        model.add_empty_subset(cost)
        for row in by_column.indices[
            by_column.indptr[column] : by_column.indptr[column + 1]
        ].tolist():
            model.add_element_to_last_subset(row)
    model.create_sparse_row_view()
    invariant = set_cover.SetCoverInvariant(model)
    greedy = set_cover.GreedySolutionGenerator(invariant)
    descent = set_cover.SteepestSearch(invariant).set_max_iterations(10_000)
    greedy.next_solution()
    descent.next_solution()
    best, chosen = invariant.cost(), list(invariant.is_selected())
    search = set_cover.GuidedLocalSearch(invariant)
    search.initialize()
    search.set_max_iterations(20)
    while (taken := time.perf_counter() - started) < seconds:
        if taken < seconds / 2:
            search.next_solution()
            invariant.recompute(set_cover.consistency_level.FREE_AND_UNCOVERED)
        else:
            set_cover.clear_random_subsets(10, invariant)
        greedy.next_solution()
        descent.next_solution()
        if invariant.cost() < best:
            best, chosen = invariant.cost(), list(invariant.is_selected())
    return [column for column, kept in enumerate(chosen) if kept]


def _highs(
    matrix: csr_array, costs: NDArray[np.int64], seconds: float
) -> tuple[list[int], float | None]:
    import highspy

    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = matrix.shape
    model.col_cost_ = costs.astype(np.float64)
    model.col_lower_, model.col_upper_ = np.zeros(matrix.shape[1]), np.ones(matrix.shape[1])
    model.row_lower_ = np.ones(matrix.shape[0])
    model.row_upper_ = np.full(matrix.shape[0], highspy.kHighsInf)
    model.integrality_ = [highspy.HighsVarType.kInteger] * matrix.shape[1]
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = matrix.indptr
    model.a_matrix_.index_ = matrix.indices
    model.a_matrix_.value_ = np.ones(matrix.nnz)
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("time_limit", seconds)
    solver.passModel(model)
    solver.run()
    values = np.asarray(solver.getSolution().col_value)
    bound = solver.getInfo().mip_dual_bound
    return np.flatnonzero(values > 0.5).tolist(), bound if np.isfinite(bound) else None


def _cp_sat(
    matrix: csr_array, costs: NDArray[np.int64], seconds: float
) -> tuple[list[int], float | None]:
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    taken = [model.new_bool_var("") for _ in range(matrix.shape[1])]
    for start, end in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        model.add_bool_or([taken[column] for column in matrix.indices[start:end]])
    model.minimize(cp_model.LinearExpr.weighted_sum(taken, costs.tolist()))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers, solver.parameters.max_time_in_seconds = 1, seconds
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return [], solver.best_objective_bound
    found = [column for column, variable in enumerate(taken) if solver.value(variable)]
    return found, solver.best_objective_bound


def _cbc(
    matrix: csr_array, costs: NDArray[np.int64], seconds: float
) -> tuple[list[int], float | None]:
    import pulp

    model = pulp.LpProblem("cover", pulp.LpMinimize)
    taken = [pulp.LpVariable(f"x{column}", cat="Binary") for column in range(matrix.shape[1])]
    model += pulp.LpAffineExpression(zip(taken, costs.tolist(), strict=True))
    for start, end in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        model += pulp.lpSum(taken[column] for column in matrix.indices[start:end]) >= 1
    model.solve(pulp.PULP_CBC_CMD(msg=False, threads=1, timeLimit=seconds))
    return [c for c, variable in enumerate(taken) if (variable.value() or 0.0) > 0.5], None


def measured(instance: str, solver: str, seconds: float) -> dict[str, Any]:
    """Run one solver on one instance in a child process; one that overshoots is ended."""
    command = [sys.executable, "-m", "experiments.cover_rivals", instance, solver, str(seconds)]
    patience = 60.0 + 4.0 * seconds
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, process_group=0
    )
    try:
        out, _ = child.communicate(timeout=patience)
        answer: dict[str, Any] = json.loads(out.splitlines()[-1])
    except (subprocess.TimeoutExpired, IndexError, ValueError):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)  # CBC is a process of its own below it
        child.wait()
        unknown = dict.fromkeys(("cost", "bound", "processor_seconds", "peak_mib"))
        answer = {"solver": solver, "seconds": patience, **unknown}
    return answer


def main() -> None:
    instance, solver, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    if instance.startswith("uniform:"):
        rows, columns, kills = (int(word) for word in instance.split(":")[1:])
        matrix = uniform(rows, columns, kills)
        costs = np.ones(columns, dtype=np.int64)
    else:
        matrix, costs = read_orlib(Path(instance))
    before = peak_mib()
    wall, processor = time.perf_counter(), time.process_time()
    columns_taken, bound = cover(solver, matrix, costs, seconds)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    open_rows = uncovered(matrix, columns_taken)
    print(
        json.dumps(
            {
                "solver": solver,
                "kills": int(matrix.nnz),
                "cost": None if open_rows else int(costs[columns_taken].sum()),
                "bound": bound,
                "seconds": wall,
                "processor_seconds": processor,
                "peak_before_mib": before,
                "peak_mib": peak_mib(),
            }
        )
    )


if __name__ == "__main__":
    run_script(main)
