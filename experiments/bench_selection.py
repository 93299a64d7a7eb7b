"""How fast and how good selection is: exact enumeration, solvers side by side, full covers.

Synthetic instances are structured as kill matrices are: mutants of unlike difficulty, inputs of
unlike strength, and near-duplicates. Third-party instances (OR-Library set covers, kill maps of
JavaScript packages) are read from the folder that the environment variable SUITEOPT_DATA names
and are reported as absent without it.

Run: SUITEOPT_DATA=DIR python experiments/bench_selection.py [--seconds 5]
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
from numpy.typing import NDArray

from experiments.budget_rivals import side_by_side
from experiments.cover_rivals import cover as rival_cover
from experiments.cover_rivals import measured, read_orlib, uncovered
from experiments.selection_tables import rivals_table
from suiteopt.console import run_script
from suiteopt.selection.bank import best_sets, make_bank
from suiteopt.selection.cover import minimum_cover
from suiteopt.selection.enumerate import enumerate_best
from suiteopt.selection.greedy import improve, lazy_greedy
from suiteopt.selection.instance import Instance, make_instance
from suiteopt.selection.limits import Limits
from suiteopt.selection.objective import score
from suiteopt.selection.result import Proof
from suiteopt.selection.solve import solve
from suiteopt.validation.baselines import random_detection

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


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    started = time.perf_counter()
    result = call()
    return result, time.perf_counter() - started


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


def bench_covers(data: Path, seconds: float) -> list[dict[str, Any]]:
    known = json.loads((data / "scp" / "optima.json").read_text())
    published = {name: entry["published"] for name, entry in known.items()} | {"rail507": 174}
    rows = []
    for path in sorted((data / "scp").glob("*.txt")):
        matrix, costs = read_orlib(path)
        searched, searching = timed(lambda m=matrix, c=costs: minimum_cover(m, c, 0.0))
        cover, taken = timed(lambda m=matrix, c=costs: minimum_cover(m, c, seconds))
        rival = rival_cover("ortools.set_cover", matrix, costs, max(searching, 0.1))[0]
        for columns in (searched.columns, cover.columns, rival):
            if uncovered(matrix, list(columns)):
                raise AssertionError(f"{path.stem}: a cover leaves rows open")
        rows.append(
            {
                "instance": path.stem,
                "rows": matrix.shape[0],
                "columns": matrix.shape[1],
                "core": list(cover.core),
                "cost": cover.cost,
                "bound": cover.bound,
                "status": str(cover.status),
                "published": published[path.stem],
                "searched": searched.cost,
                "search_seconds": searching,
                "set_cover": int(costs[rival].sum()),
                "seconds": taken,
            }
        )
    return rows


def read_killmap(path: Path) -> tuple[list[int], list[int], NDArray[np.bool_]]:
    """Read a killMap in Major's form as mutants, tests and kills."""
    lines = [line.split(",") for line in path.read_text().splitlines()[1:] if line]
    tests = sorted({int(line[0]) for line in lines})
    mutants = sorted({int(line[1]) for line in lines})
    column = {test: position for position, test in enumerate(tests)}
    row = {mutant: position for position, mutant in enumerate(mutants)}
    kills = np.zeros((len(mutants), len(tests)), dtype=np.bool_)
    for line in lines:
        kills[row[int(line[1])], column[int(line[0])]] = True
    return mutants, tests, kills


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


def bench_versions(data: Path) -> list[dict[str, Any]]:
    """Choose tests on one version of a package, score them on the next one.

    Tests are told by their number, which is all that the maps say of them; where the newer
    version put a test between others, numbers are shifted, and the suite pays for it.
    """
    maps = [
        read_killmap(data / "killmaps" / f"body-parser-{name}.killMap.csv")
        for name in ("old", "new")
    ]
    old, new = (
        make_instance(name, [str(m) for m in mutants], [f"{test:06}" for test in tests], kills)
        for name, (mutants, tests, kills) in zip(("old", "new"), maps, strict=True)
    )
    full = [old.inputs[column] for column in minimum_cover(old.kills).columns]
    rows = []
    for budget in (2, 5, 10, 20, len(full)):
        members = full if budget == len(full) else solve(old, budget).members
        there = [new.inputs.index(name) for name in members if name in new.inputs]
        chosen = solve(new, budget, limits=Limits(seconds=30.0))
        rows.append(
            {
                "budget": budget,
                "old_share": score(old, [old.inputs.index(n) for n in members]).detected
                / old.total,
                "new_share": score(new, there).detected / new.total,
                "new_best_share": chosen.detected / new.total,
                "new_random_share": float(random_detection(new, budget).mean()),
            }
        )
    return rows


def bench_killmaps(data: Path, seconds: float) -> list[dict[str, Any]]:
    optima = {"body-parser-new": 60, "body-parser-old": 54, "uuid-new": 9}
    rows = []
    for name, published in optima.items():
        mutants, tests, kills = read_killmap(data / "killmaps" / f"{name}.killMap.csv")
        cover, taken = timed(lambda k=kills: minimum_cover(k, None, seconds))
        row: dict[str, Any] = {
            "instance": name,
            "mutants": len(mutants),
            "tests": len(tests),
            "core": list(cover.core),
            "cost": cover.cost,
            "bound": cover.bound,
            "status": str(cover.status),
            "known_optimum": published,
            "seconds": taken,
            "budgets": {},
        }
        instance = make_instance(name, [str(m) for m in mutants], [f"{t:06}" for t in tests], kills)
        for budget in (2, 5, 10, 20):
            chosen = solve(instance, budget, limits=Limits(seconds=max(seconds, 30.0)))
            row["budgets"][str(budget)] = {
                "detected": chosen.detected,
                "bound": chosen.bound,
                "status": str(chosen.status),
                "solver": chosen.solver,
                "seconds": chosen.seconds,
            }
        rows.append(row)
    return rows


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
    (RESULTS / "bench_selection.md").write_text(_table(result) + rivals_table(result))


def _table(result: dict[str, Any]) -> str:
    lines = [
        "# Selection, measured",
        "",
        f"{result['machine']['cpus']} cores, load average {result['load_average']:.1f}: times are "
        "wall clock and as long as the machine was busy; processor times beside them are not. "
        "Every cover was checked against the rows of its instance, whoever found it.",
        "",
        "| exact enumeration | seconds | processor seconds | several optima |",
        "|---|---|---|---|",
    ]
    for row in result["enumeration"]:
        lines.append(
            f"| {row['problems']} problems, {row['inputs']} inputs, {row['mutants']} mutants, "
            f"budget {row['budget']} | {row['seconds']:.3f} | {row['processor_seconds']:.3f} | "
            f"{row['several_optima_share']:.0%} |"
        )
    lines += [
        "",
        "| solver | budget | median ms | proved | below optimum |",
        "|---|---|---|---|---|",
    ]
    for row in result["solvers"]:
        lines.append(
            f"| {row['solver']} | {row['budget']} | {row['median_problem_seconds'] * 1e3:.2f} | "
            f"{row['proved']} of {row['problems']} | {row['below_optimum']} |"
        )
    lines += ["", "| refits | seconds | processor seconds |", "|---|---|---|"]
    for row in result["refits"]:
        lines.append(
            f"| {row['refits']} of {row['mutants']} mutants, {row['inputs']} inputs, "
            f"budget {row['budget']} | {row['bank_seconds'] + row['seconds']:.2f} | "
            f"{row['processor_seconds']:.2f} |"
        )
    large = result["large"]
    lines += [
        "",
        f"{large['mutants']} mutants, {large['inputs']} inputs, budget {large['budget']}: greedy "
        f"{large['greedy']} in {large['greedy_seconds']:.2f} s, with exchanges "
        f"{large['exchanged']} in {large['exchange_seconds']:.2f} s, bound {large['auto_bound']} "
        f"({large['auto_solver']}), {large['auto_seconds']:.1f} s in all.",
        "",
    ]
    if isinstance(result["covers"], str):
        return "\n".join([*lines, f"Third-party instances {result['covers']}.", ""])
    lines += [
        "| full cover | searched | gap | seconds | finished by HiGHS | gap | bound | seconds "
        "| ortools.set_cover in the time of the search | published | core |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in result["covers"]:
        known = row["published"]
        lines.append(
            f"| {row['instance']} | {row['searched']} | {row['searched'] / known - 1:.1%} | "
            f"{row['search_seconds']:.1f} | {row['cost']} | {row['cost'] / known - 1:.1%} | "
            f"{row['bound']} | {row['seconds']:.1f} | {row['set_cover']} | {known} | "
            f"{row['core'][0]} x {row['core'][1]} |"
        )
    lines += ["", "| kill map | cost | bound | known | seconds |", "|---|---|---|---|---|"]
    for row in result["killmaps"]:
        lines.append(
            f"| {row['instance']} | {row['cost']} | {row['bound']} | {row['known_optimum']} | "
            f"{row['seconds']:.2f} |"
        )
    lines += [
        "",
        "| tests chosen on body-parser-old | of its mutants | of body-parser-new's "
        "| best there | as many at random |",
        "|---|---|---|---|---|",
    ]
    for row in result["next_version"]:
        lines.append(
            f"| {row['budget']} | {row['old_share']:.1%} | {row['new_share']:.1%} | "
            f"{row['new_best_share']:.1%} | {row['new_random_share']:.1%} |"
        )
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    run_script(main)
