"""Certificates through PuLP: HiGHS, or CBC in a process that is ended when it overruns."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from suiteopt.errors import UserError
from suiteopt.selection.instance import Instance
from suiteopt.selection.limits import Limits
from suiteopt.selection.parts import clashes
from suiteopt.selection.result import Certificate

BACKENDS = ("highs", "cbc")
_PROVED = 1  # pulp.LpSolutionOptimal; `status` says "Optimal" after a time limit, too


def certify_pulp(
    instance: Instance,
    budget: int,
    incumbent: tuple[int, ...],
    limits: Limits,
    backend: str = "highs",
) -> Certificate:
    """Maximise detection with at most ``budget`` columns.

    PuLP hands no bound back, so the bound is the value where ``sol_status`` is a proof, and the
    weight that the pool can kill otherwise.

    Parameters
    ----------
    instance : Instance
        Rows may be merged; given kills are constants.
    budget : int
    incumbent : tuple of int
        Unused: neither route takes a start through PuLP reliably; the caller keeps the better.
    limits : Limits
    backend : {"highs", "cbc"}
    """
    pulp = _pulp()
    del incumbent
    problem = pulp.LpProblem("cover", pulp.LpMaximize)
    picks = [problem.add_variable(f"x{j}", cat="Binary") for j in range(len(instance.inputs))]
    terms = []
    open_rows = np.flatnonzero(instance.given == 0)
    for row in open_rows:
        cover = problem.add_variable(f"y{row}", lowBound=0, upBound=1)
        killers = [picks[column] for column in np.flatnonzero(instance.kills[row])]
        problem += cover <= pulp.lpSum(killers)
        terms.append(int(instance.weights[row]) * cover)
    problem.setObjective(pulp.lpSum(terms))
    problem += pulp.lpSum(picks) <= budget
    for group in clashes(instance):
        problem += pulp.lpSum(picks[column] for column in group) <= 1
    constant = int(instance.weights[instance.given > 0].sum())
    bound = constant + int(instance.weights[open_rows].sum())
    if backend == "highs":
        solver = pulp.HiGHS(
            msg=False,
            timeLimit=limits.seconds,
            gapRel=0.0,
            gapAbs=0.0,
            threads=1,
            random_seed=0,
        )
        with _silent_stdout():
            problem.solve(solver)
        solved = problem.sol_status in (pulp.LpSolutionOptimal, pulp.LpSolutionIntegerFeasible)
    else:
        solved = run_cbc(problem, limits)
    columns = None
    if solved:
        columns = tuple(j for j, pick in enumerate(picks) if (pick.value() or 0.0) > 0.5)
    if columns is not None and problem.sol_status == _PROVED:
        value = pulp.value(problem.objective)
        bound = min(bound, constant + round(value or 0.0))
    return Certificate(columns, bound, f"pulp:{backend}", pulp.__version__)


def _pulp() -> Any:
    """Load PuLP behind MathOpt.

    It loads highspy, and MathOpt has a HiGHS of its own: in a process in which highspy was loaded
    first, a solve with that one ends in a segmentation fault. The other order is sound.
    """
    import_module("ortools.math_opt.python.mathopt")
    return import_module("pulp")


@contextmanager
def _silent_stdout() -> Iterator[None]:
    """Send what native code writes to standard output to nowhere.

    HiGHS prints a banner once in a process, before any option can silence it, and standard output
    belongs to whoever asked for JSON.
    """
    sys.stdout.flush()
    kept = os.dup(1)
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def run_cbc(problem: Any, limits: Limits, path: str | None = None) -> bool:
    """Solve a PuLP problem by CBC and end the process when it overruns its limit.

    CBC was seen to run 71 s at a limit of 20 s; PuLP waits for it for ever.

    Parameters
    ----------
    problem : pulp.LpProblem
        Values and ``sol_status`` are set on success.
    limits : Limits
    path : str, optional
        The executable; the one that PuLP ships by default.

    Returns
    -------
    bool
        Whether a solution was found.
    """
    pulp = _pulp()

    solver = pulp.PULP_CBC_CMD(msg=False)
    executable = path or solver.path
    with tempfile.TemporaryDirectory(prefix="suiteopt-cbc-") as folder:
        model, answer = Path(folder, "model.mps"), Path(folder, "answer.sol")
        variables, names, rows, _ = problem.writeMPS(str(model), rename=True)
        command = [executable, str(model), "-max", "-sec", str(limits.seconds), "-ratio", "0"]
        command += ["-allow", "0", "-threads", "1", "-randomCbcSeed", "1"]
        command += ["-solve", "-printingOptions", "all", "-solution", str(answer)]
        try:
            subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=limits.seconds + limits.grace,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return False
        except OSError as error:
            raise UserError(
                f"cannot start CBC at {executable} ({error.strerror}); use --solver pulp:highs"
            ) from error
        if not answer.exists():
            return False
        status, values, _, _, _, sol_status = solver.readsol_MPS(
            str(answer), problem, variables, names, rows
        )
    problem.assignVarsVals(values)
    problem.assignStatus(status, sol_status)
    return sol_status in (pulp.LpSolutionOptimal, pulp.LpSolutionIntegerFeasible)
