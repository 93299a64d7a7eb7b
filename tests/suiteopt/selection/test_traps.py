"""What solvers get wrong, one test a trap."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from suiteopt.selection.greedy import improve, lazy_greedy
from suiteopt.selection.instance import Instance
from suiteopt.selection.limits import Limits
from suiteopt.selection.mathopt import certify_mathopt
from suiteopt.selection.objective import score
from suiteopt.selection.pulp_model import certify_pulp, run_cbc
from suiteopt.selection.result import Certificate, Proof, Selection
from suiteopt.selection.solve import solve
from tests.suiteopt.selection.instances import instance_of


def wide_instance() -> Instance:
    """Too large to be solved in an instant."""
    random = np.random.default_rng(5)
    return instance_of(random.random((400, 120)) < 0.05)


def test_an_optimal_status_of_pulp_after_a_time_limit_is_no_proof() -> None:
    import pulp

    instance = wide_instance()
    certificate = certify_pulp(instance, 20, (), Limits(seconds=0.05), "highs")
    assert certificate.bound == instance.total  # nothing is known
    assert pulp.LpStatus[pulp.LpStatusOptimal] == "Optimal"
    selection = solve(instance, 20, "pulp", limits=Limits(seconds=0.05))
    assert selection.status == Proof.FEASIBLE
    assert selection.bound > selection.detected


@pytest.mark.parametrize(("sol_status", "proved"), [(1, True), (2, False)])
def test_only_sol_status_one_is_taken_for_a_proof(
    sol_status: int, proved: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pulp

    def stopped(problem: pulp.LpProblem, solver: object) -> int:
        problem.assignVarsVals({v.name: float(v.name in ("x0", "y0")) for v in problem.variables()})
        problem.assignStatus(pulp.LpStatusOptimal, sol_status)
        return pulp.LpStatusOptimal

    monkeypatch.setattr(pulp.LpProblem, "solve", stopped)
    certificate = certify_pulp(instance_of([[1, 0], [0, 1]]), 1, (), Limits(), "highs")
    assert certificate.columns == (0,)
    assert certificate.bound == (1 if proved else 2)


def test_cp_sat_without_time_returns_the_incumbent() -> None:
    instance = wide_instance()
    incumbent = improve(instance, lazy_greedy(instance, 20), 20)
    selection = solve(instance, 20, "cp-sat", limits=Limits(deterministic=1e-6))
    assert selection.detected >= score(instance, incumbent).detected
    assert selection.status == Proof.FEASIBLE


@pytest.mark.parametrize("columns", [None, (), (0,)])
def test_a_solver_that_returns_less_than_the_incumbent_is_not_believed(
    columns: tuple[int, ...] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = wide_instance()
    greedy = solve(instance, 20, "greedy")

    def poor(small: Instance, *_: object) -> Certificate:
        return Certificate(columns, small.ceiling, "poor", "0")

    monkeypatch.setattr("suiteopt.selection.solve.certify_cpsat", poor)
    selection = solve(instance, 20, "cp-sat")
    assert selection.detected >= greedy.detected
    assert selection.solver == "poor"


def test_cp_sat_stopped_by_its_deterministic_limit_repeats() -> None:
    instance = wide_instance()
    limits = Limits(deterministic=0.3)
    first = solve(instance, 20, "cp-sat", limits=limits)
    assert first.status == Proof.FEASIBLE  # it was stopped
    assert first == solve(instance, 20, "cp-sat", limits=limits)


def test_a_cbc_that_overruns_its_limit_is_ended(tmp_path: Path) -> None:
    import pulp

    pid_file = tmp_path / "pid"
    slow = tmp_path / "cbc"
    slow.write_text(
        f"#!{sys.executable}\nimport os, time\n"
        f"open({str(pid_file)!r}, 'w').write(str(os.getpid()))\ntime.sleep(3600)\n"
    )
    slow.chmod(0o755)
    problem = pulp.LpProblem("p", pulp.LpMaximize)
    x = problem.add_variable("x", cat="Binary")
    problem.setObjective(x)
    assert not run_cbc(problem, Limits(seconds=1.0, grace=1.0), str(slow))
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_file.read_text()), 0)


def test_a_value_above_its_bound_cannot_be_written_down() -> None:
    def selection(detected: int, bound: int) -> Selection:
        return Selection("p", (), 9, detected, 0, bound, 0, 0, 0, "searched", None, "s", "0")  # type: ignore[arg-type]

    assert selection(5, 5).status == Proof.PROVED
    assert (selection(5, 6).status, selection(5, 6).gap) == (Proof.FEASIBLE, 1)
    with pytest.raises(ValueError, match="bound"):
        selection(5, 4)
    with pytest.raises(ValueError, match="bound"):
        selection(5, 10)


def test_the_relaxation_bounds_and_chooses_nothing() -> None:
    # an odd cycle: two columns cover 3 of 3 rows, one covers 2; the relaxation at 1 covers 2
    instance = instance_of([[1, 1, 0], [0, 1, 1], [1, 0, 1]])
    certificate = certify_mathopt(instance, 1, (), Limits(), relaxed=True)
    assert (certificate.columns, certificate.bound) == (None, 2)


def test_two_libraries_with_a_highs_of_their_own_live_in_one_process() -> None:
    # In a process of its own: what counts is which is loaded first.
    script = (
        "from suiteopt.selection.limits import Limits\n"
        "from suiteopt.selection.solve import solve\n"
        "from tests.suiteopt.selection.instances import instance_of\n"
        "instance = instance_of([[1, 1, 0], [0, 1, 1], [1, 0, 1]])\n"
        "for solver in ('pulp', 'mathopt', 'pulp'):\n"
        "    print(solve(instance, 1, solver).detected)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "2\n2\n2\n"), done.stderr


def test_solvers_write_nothing_to_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    for solver in ("cp-sat", "mathopt", "mathopt:scip", "pulp", "pulp:cbc"):
        solve(instance_of(np.random.default_rng(3).random((60, 40)) < 0.1), 5, solver)
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("solver", ["mathopt:highs", "mathopt:scip"])
def test_a_limit_of_nodes_repeats_on_any_machine(solver: str) -> None:
    random = np.random.default_rng(5)
    instance = instance_of(random.random((150, 60)) < 0.08)
    first = solve(instance, 8, solver, limits=Limits(nodes=1))
    assert first.status == Proof.FEASIBLE  # it was stopped
    assert first == solve(instance, 8, solver, limits=Limits(nodes=1))
