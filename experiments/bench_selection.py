"""How fast and how good selection is: exact enumeration, solvers side by side, full covers.

Synthetic instances are structured as kill matrices are: mutants of unlike difficulty, inputs of
unlike strength, and near-duplicates. Third-party instances (OR-Library set covers, kill maps of
JavaScript packages) are read from the folder that the environment variable SUITEOPT_DATA names
and are reported as absent without it.

Run: SUITEOPT_DATA=DIR python -m experiments.bench_selection [--seconds 5]
Writes experiments/results/bench_selection.json and bench_selection.md.
"""

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from experiments.budget_rivals import side_by_side
from experiments.cover_rivals import measured
from experiments.selection_outside import bench_covers, bench_killmaps, bench_versions
from experiments.selection_tables import page
from experiments.stopwatch import timed
from suiteopt.console import run_script
from suiteopt.selection.bank import best_sets, make_bank
from suiteopt.selection.enumerate import enumerate_best
from suiteopt.selection.greedy import improve, lazy_greedy
from suiteopt.selection.instance import Instance, make_instance
from suiteopt.selection.limits import Limits
from suiteopt.selection.objective import score
from suiteopt.selection.result import Proof
from suiteopt.selection.solve import solve

RESULTS = Path(__file__).parent / "results"
SOLVERS = ("enumerate", "cp-sat", "mathopt:highs", "mathopt:scip", "pulp:highs", "pulp:cbc")


def structured(random: np.random.Generator, mutants: int, inputs: int, mean: float) -> Instance:
    """Draw kills from difficulty x strength, then repeat rows as duplicates do."""
    difficulty = random.beta(0.5, 0.5 / mean - 0.5, mutants)[:, None]
    strength = random.lognormal(0.0, 0.5, inputs)[None, :]
    kills = random.random((mutants, inputs)) < np.clip(difficulty * strength, 0, 1)
    copies = random.integers(0, mutants, mutants // 4)
    kills[: len(copies)] = kills[copies]
    return make_instance(
        "problem",
        [f"m{row}" for row in range(mutants)],
        [f"i{column:04}" for column in range(inputs)],
        kills,
        slack_decades=random.uniform(0, 6, (mutants, inputs)),
        costs=random.integers(1, 100, inputs),
    )


def bench_enumeration(problems: int, budget: int) -> dict[str, Any]:
    random = np.random.default_rng(0)
    instances = [structured(random, 70, 64, 0.3) for _ in range(problems)]
    enumerate_best(instances[0], budget)
    processor = time.process_time()
    found = [timed(lambda i=i: enumerate_best(i, budget)) for i in instances]
    processor = time.process_time() - processor
    greedy = [score(i, lazy_greedy(i, budget)).detected for i in instances]
    swapped = [score(i, improve(i, lazy_greedy(i, budget), budget)).detected for i in instances]
    exact = [result[1].detected for result, _ in found]
    losses = [1 - g / e for g, e in zip(greedy, exact, strict=True)]
    return {
        "problems": problems,
        "inputs": 64,
        "mutants": 70,
        "budget": budget,
        "seconds": sum(seconds for _, seconds in found),
        "processor_seconds": processor,
        "median_problem_seconds": statistics.median(seconds for _, seconds in found),
        "several_optima_share": float(np.mean([result[2] > 1 for result, _ in found])),
        "greedy_below_optimum": sum(loss > 0 for loss in losses),
        "greedy_worst_loss_share": max(losses),
        "greedy_with_exchanges_below_optimum": sum(
            s < e for s, e in zip(swapped, exact, strict=True)
        ),
    }


def bench_solvers(problems: int, budget: int) -> list[dict[str, Any]]:
    """All solvers on instances that greedy and its bound do not settle."""
    random = np.random.default_rng(1)
    instances = [structured(random, 60, 64, 0.15) for _ in range(problems)]
    best = [enumerate_best(i, budget)[1].detected for i in instances]
    rows = []
    for solver in SOLVERS:
        solve(instances[0], budget, solver)
        found = [solve(i, budget, solver) for i in instances]
        rows.append(
            {
                "solver": solver,
                "budget": budget,
                "problems": problems,
                "median_problem_seconds": statistics.median(s.seconds for s in found),
                "proved": sum(s.status == Proof.PROVED for s in found),
                "below_optimum": sum(s.detected < b for s, b in zip(found, best, strict=True)),
                "bound_by_solver": sum(s.solver == solver for s in found),
                "wrong_proofs": sum(
                    s.status == Proof.PROVED and s.detected != b
                    for s, b in zip(found, best, strict=True)
                ),
            }
        )
    return rows


def bench_refits(mutants: int, inputs: int, budget: int, folds: int) -> dict[str, Any]:
    random = np.random.default_rng(2)
    instance = structured(random, mutants, inputs, 0.3)
    weights = (random.random((mutants, folds)) < 0.8).astype(np.int64)
    processor = time.process_time()
    bank, building = timed(lambda: make_bank(instance, budget))
    _, solving = timed(lambda: best_sets(bank, weights))
    processor = time.process_time() - processor
    return {
        "mutants": mutants,
        "inputs": inputs,
        "budget": budget,
        "refits": folds,
        "processor_seconds": processor,
        "bank_seconds": building,
        "seconds": solving,
    }


def bench_large(seconds: float) -> dict[str, Any]:
    random = np.random.default_rng(3)
    instance = structured(random, 10_000, 500, 0.05)
    chosen, greedy_seconds = timed(lambda: lazy_greedy(instance, 50))
    better, swap_seconds = timed(lambda: improve(instance, chosen, 50))
    bounded, total_seconds = timed(
        lambda: solve(instance, 50, "auto", limits=Limits(seconds=max(seconds, 30.0)))
    )
    return {
        "mutants": 10_000,
        "inputs": 500,
        "budget": 50,
        "killable": instance.ceiling,
        "greedy": score(instance, chosen).detected,
        "greedy_seconds": greedy_seconds,
        "exchanged": score(instance, better).detected,
        "exchange_seconds": swap_seconds,
        "auto": bounded.detected,
        "auto_bound": bounded.bound,
        "auto_solver": bounded.solver,
        "auto_seconds": total_seconds,
    }


def bench_large_covers() -> dict[str, list[dict[str, Any]]]:
    """Full covers too large for a proof, each solver in a process of its own."""
    small, large = "uniform:10000:5000:100", "uniform:100000:5000:100"
    return {
        "10,000 x 5,000, 10^6 kills": [
            measured(small, solver, 20.0)
            for solver in ("suiteopt", "ortools.set_cover", "highspy", "cp-sat", "pulp+cbc")
        ],
        "100,000 x 5,000, 10^7 kills": [
            *(measured(large, "suiteopt", 0.0) for _ in range(3)),
            *(measured(large, "ortools.set_cover", 2.5) for _ in range(3)),
            measured(large, "highspy", 60.0),
        ],
    }


def bench_rivals() -> dict[str, list[dict[str, Any]]]:
    """Budgets, every solver on the same instances in one run."""
    random = np.random.default_rng(1)
    problems = [structured(random, 60, 64, 0.15) for _ in range(7)]
    large = structured(np.random.default_rng(3), 10_000, 500, 0.05)
    return {
        "7 problems of 60 mutants, 64 inputs, budget 2": side_by_side(problems, 2, 20.0),
        "10,000 mutants, 500 inputs, budget 50, 20 s": side_by_side([large], 50, 20.0),
    }


def parts_of(data: Path | None, seconds: float) -> dict[str, Callable[[], Any]]:
    """Every part of the benchmark, by its key in the results."""
    parts: dict[str, Callable[[], Any]] = {
        "enumeration": lambda: [bench_enumeration(100, 2), bench_enumeration(100, 3)],
        "solvers": lambda: [*bench_solvers(50, 2), *bench_solvers(20, 3)],
        "refits": lambda: [
            bench_refits(150, 24, 2, 25_000),
            bench_refits(70, 64, 2, 25_000),
            bench_refits(150, 24, 3, 25_000),
        ],
        "large": lambda: bench_large(seconds),
        "covers": lambda: "absent: SUITEOPT_DATA is not set",
        "killmaps": lambda: "absent: SUITEOPT_DATA is not set",
        "next_version": lambda: "absent: SUITEOPT_DATA is not set",
        "rivals": bench_rivals,
        "large_covers": bench_large_covers,
    }
    if data is not None:
        parts |= {
            "covers": lambda: bench_covers(data, seconds),
            "killmaps": lambda: bench_killmaps(data, seconds),
            "next_version": lambda: bench_versions(data),
        }
    return parts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5.0, help="limit of one exact cover")
    parser.add_argument("--only", nargs="+", help="parts to measure again; the others stay")
    given = parser.parse_args()
    folder = os.environ.get("SUITEOPT_DATA")
    data = Path(folder) if folder and Path(folder, "scp").is_dir() else None
    parts = parts_of(data, given.seconds)
    unknown = set(given.only or ()) - set(parts)
    if unknown:
        parser.error(f"no part {min(unknown)!r}; there are {', '.join(parts)}")
    file = RESULTS / "bench_selection.json"
    result: dict[str, Any] = json.loads(file.read_text()) if given.only else {}
    load = os.getloadavg()[0]
    if given.only:
        again = dict.fromkeys(given.only, load)
        result["measured_again"] = {**result.get("measured_again", {}), **again}
        load = result["load_average"]
    result |= {
        "machine": {"python": platform.python_version(), "cpus": os.cpu_count()},
        "load_average": load,
        "versions": {name: version(name) for name in ("numpy", "scipy", "ortools", "pulp")},
        "limit_seconds": given.seconds,
        **{name: part() for name, part in parts.items() if name in (given.only or parts)},
    }
    RESULTS.mkdir(exist_ok=True)
    file.write_text(json.dumps(result, indent=2) + "\n")
    (RESULTS / "bench_selection.md").write_text(page(result))


if __name__ == "__main__":
    run_script(main)
