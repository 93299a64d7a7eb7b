"""Which verdicts differ between a CPU and a GPU, on the same faults, inputs and shapes, and why.

    gpu-eval run --profile demo --device cpu  --output CPU
    gpu-eval run --profile demo --device cuda --output GPU
    python -m experiments.cpu_vs_gpu CPU GPU

Prints a table for each of three oracles and writes experiments/results/cpu_vs_gpu.{json,md}: cells
that both devices ran, how many verdicts differ, by reason; and every mutant whose verdict differs.
"""

import argparse
import json
import sys
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from suiteopt.matrix.kill import KillTable, kill_table
from suiteopt.matrix.oracle import parse_oracle
from suiteopt.matrix.schema import (
    COUNTS,
    EXCEPTION_STATUSES,
    Kind,
    Status,
)
from suiteopt.matrix.store import Matrix

RESULTS = Path(__file__).parent / "results"
ORACLES = ("fixed:1e-2", "fixed:1e-4", "calibrated")
NEAR = 2.0
"""Statistics within this factor of each other differ as two correct roundings may."""

REASONS = {
    "race": "repeats disagree on one of them: the outcome depends on the order of threads",
    "fatal": "the run ends in an exception on one device: memory faults and hangs differ in kind",
    "outside": "one device saw a write outside the buffers, or an unwritten output: what lies "
    "there differs",
    "nonfinite": "NaN or infinity in other places: conversions that do not saturate, or library "
    "functions at the edge of their range",
    "tolerance": "the statistics are alike, and the calibrated tolerances lie on both sides",
    "rounding": "the statistics are alike, and the tolerance lies between them",
    "value": "the values differ: code whose meaning the two compilers or machines do not share",
}


@dataclass(frozen=True)
class Difference:
    """A cell that one device kills and the other does not."""

    oracle: str
    problem: str
    implementation: str
    rule: str
    input: str
    killed_on: str
    reason: str


def main(arguments: list[str]) -> int:
    """Compare two matrices and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("cpu", type=Path)
    parser.add_argument("gpu", type=Path)
    parser.add_argument("--results", type=Path, default=RESULTS)
    given = parser.parse_args(arguments)
    cpu, gpu = Matrix.open(given.cpu), Matrix.open(given.gpu)
    differences: list[Difference] = []
    summary = []
    for oracle in ORACLES:
        compared = 0
        found: list[Difference] = []
        for problem in sorted(set(cpu.problem_ids) & set(gpu.problem_ids)):
            cells, different = compare(cpu, gpu, problem, oracle)
            compared += cells
            found += different
        reasons = Counter(d.reason for d in found)
        summary.append(
            {
                "oracle": oracle,
                "cells": compared,
                "differ": len(found),
                "mutants": len({d.implementation for d in found}),
                "killed on the CPU alone": sum(d.killed_on == "cpu" for d in found),
                **{reason: reasons[reason] for reason in REASONS},
            }
        )
        differences += found
    document = {
        "cpu": dict(cpu.meta.device),
        "gpu": dict(gpu.meta.device),
        "classes": classes(cpu, gpu),
        "oracles": summary,
        "differences": [asdict(d) for d in differences],
    }
    given.results.mkdir(parents=True, exist_ok=True)
    (given.results / "cpu_vs_gpu.json").write_text(json.dumps(document, indent=1) + "\n")
    text = report(document, differences)
    (given.results / "cpu_vs_gpu.md").write_text(text)
    print(text)
    return 0


def compare(cpu: Matrix, gpu: Matrix, problem: str, oracle: str) -> tuple[int, list[Difference]]:
    """Return how many cells both devices ran, and those whose verdicts differ."""
    tables = [kill_table(m, problem, parse_oracle(oracle)) for m in (cpu, gpu)]
    mutants = _common(tables)
    inputs = [i for i in tables[0].inputs if i in set(tables[1].inputs)]
    kills, ran = zip(*(_dense(table, mutants, inputs) for table in tables), strict=True)
    both = ran[0] & ran[1]
    rows = [_rows(m, problem) for m in (cpu, gpu)]
    listed = cpu.implementations_of(problem)
    rules = dict(
        zip(listed["implementation"].astype(str), map("+".join, listed["rules"]), strict=True)
    )
    limits = [dict(zip(t.inputs, t.tolerances, strict=True)) for t in tables]
    found = []
    for i, j in np.argwhere(both & (kills[0] != kills[1])):
        name, where = mutants[i], inputs[j]
        cells = [r.loc[(name, where)] for r in rows]
        column = str(tables[0].oracle.comparator)
        reason = explain(cells[0], cells[1], column, limits[0][where] != limits[1][where])
        side = "cpu" if kills[0][i, j] else "gpu"
        found.append(Difference(oracle, problem, name, rules[name], where, side, reason))
    return int(both.sum()), found


def explain(cpu: "pd.Series[Any]", gpu: "pd.Series[Any]", column: str, limits_differ: bool) -> str:
    """Return the first of `REASONS` that holds for a pair of cells."""
    statuses = {str(cpu["status"]), str(gpu["status"])}
    if cpu["disagreed"] > 0 or gpu["disagreed"] > 0:
        return "race"
    if statuses & {str(s) for s in EXCEPTION_STATUSES}:
        return "fatal"
    if statuses & {str(Status.OUT_OF_BOUNDS), str(Status.UNWRITTEN)}:
        return "outside"
    if any(int(cpu[str(c)] or 0) != int(gpu[str(c)] or 0) for c in COUNTS):
        return "nonfinite"
    low, high = sorted((float(cpu[column]), float(gpu[column])))
    if high <= NEAR * low:
        return "tolerance" if limits_differ else "rounding"
    return "value"


def classes(cpu: Matrix, gpu: Matrix) -> list[dict[str, Any]]:
    """Count the mutants of common problems by what each compiler made of them."""
    common = set(cpu.problem_ids) & set(gpu.problem_ids)
    sides = []
    for matrix in (cpu, gpu):
        table = matrix.implementations
        kept = table[(table["kind"] == Kind.MUTANT) & table["problem"].astype(str).isin(common)]
        sides.append(kept.set_index(kept["implementation"].astype(str))["class"].astype(str))
    pairs = Counter(zip(sides[0], sides[1].reindex(sides[0].index), strict=True))
    return [
        {"cpu": str(a), "gpu": str(b), "mutants": number}
        for (a, b), number in sorted(pairs.items())
    ]


def report(document: dict[str, Any], differences: list[Difference]) -> str:
    """Return the tables as Markdown."""
    summary = document["oracles"]
    columns = list(summary[0])
    lines = ["# CPU against GPU", "", _row(columns), _row(["---"] * len(columns))]
    lines += [_row(row.values()) for row in summary]
    lines += ["", "Reasons:", "", *(f"- {name}: {text}" for name, text in REASONS.items())]
    lines += ["", _row(["class on the CPU", "class on the GPU", "mutants"]), _row(["---"] * 3)]
    lines += [_row(row.values()) for row in document["classes"]]
    lines += ["", _row(["oracle", "mutant", "rules", "killed on", "reason", "inputs"])]
    lines.append(_row(["---"] * 6))
    grouped = Counter(
        (d.oracle, d.implementation, d.rule, d.killed_on, d.reason) for d in differences
    )
    lines += [_row([*key, number]) for key, number in sorted(grouped.items())]
    return "\n".join(lines) + "\n"


def _row(values: Any) -> str:
    return "| " + " | ".join(str(value) for value in values) + " |"


def _common(tables: list[KillTable]) -> list[str]:
    """Return the mutants that both devices ran, in order."""
    second = set(tables[1].implementations)
    kinds = zip(tables[0].implementations, tables[0].kinds, strict=True)
    return [name for name, kind in kinds if kind is Kind.MUTANT and name in second]


def _dense(table: KillTable, mutants: list[str], inputs: list[str]) -> tuple[Any, Any]:
    rows = [table.implementations.index(name) for name in mutants]
    columns = [table.inputs.index(name) for name in inputs]
    place = np.ix_(rows, columns)
    return table.kills.toarray()[place], table.ran.toarray()[place]


def _rows(matrix: Matrix, problem: str) -> pd.DataFrame:
    cells = matrix.cells(problem).copy()
    for column in (str(c) for c in COUNTS):
        cells[column] = cells[column].fillna(0)
    keys = [cells["implementation"].astype(str), cells["input"].astype(str)]
    return cells.set_index(pd.MultiIndex.from_arrays(keys))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
