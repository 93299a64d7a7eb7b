"""Selection on instances of others: OR-Library set covers, kill maps of JavaScript packages."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.cover_rivals import cover as rival_cover
from experiments.cover_rivals import read_orlib, uncovered
from experiments.stopwatch import timed
from suiteopt.selection.cover import minimum_cover
from suiteopt.selection.instance import make_instance
from suiteopt.selection.limits import Limits
from suiteopt.selection.objective import score
from suiteopt.selection.solve import solve
from suiteopt.validation.baselines import random_detection


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
