"""How large a matrix is and how fast it reads: 10^4 mutants x 64 inputs.

Statistics are computed, not drawn: reference outputs of 256 elements on inputs of unlike scales,
and mutants that are wrong in the ways that kernels are (one element, a tail, a scale, a shift, an
offset by a neighbour, low precision, nothing at all), many of which behave alike. A second matrix
holds independent random statistics, which nothing can compress below their 12 significant bits
and their exponent: the worst case.

Run: python -m experiments.bench_store [--problems 100] [--mutants 100] [--inputs 64]
Writes experiments/results/bench_store.json and bench_store.md.
"""

import argparse
import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow

from experiments.synthetic_cells import build, incompressible, realistic
from suiteopt.console import run_script
from suiteopt.matrix.kill import kill_table, matrix_kills
from suiteopt.matrix.oracle import parse_oracle
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.summary import summarise

RESULTS = Path(__file__).parent / "results"
LIMIT_BYTES = 24_000_000


def median_seconds(action: Callable[[], object], repeats: int = 15) -> float:
    """Return the median wall time of an action."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def bench(path: Path, written: float) -> dict[str, Any]:
    """Measure size and reading times of a matrix."""
    matrix = Matrix.open(path)
    problem = matrix.problem_ids[0]
    three = ["input", "status", "rms"]
    names = ["implementations", "inputs"]
    tables = sum((path / f"{name}.parquet").stat().st_size for name in names)
    cells = sum(file.stat().st_size for file in (path / "cells").iterdir())
    total = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    summary = summarise(matrix)
    calibrated, fixed = parse_oracle("calibrated"), parse_oracle("fixed:1e-2")
    return {
        "problems": summary.problems,
        "mutants": summary.mutants.valid,
        "distinct": summary.mutants.distinct,
        "cells": summary.cells,
        "bytes": total,
        "cell_bytes": cells,
        "table_bytes": tables,
        "bytes_a_cell": round(cells / summary.cells, 2),
        "limit_bytes": LIMIT_BYTES,
        "fits": total <= LIMIT_BYTES,
        "write_seconds": round(written, 3),
        "open_seconds": round(median_seconds(lambda: Matrix.open(path).problem_ids), 5),
        "cold_read_seconds": round(
            median_seconds(lambda: Matrix.open(path).cells(problem, three)), 5
        ),
        "read_seconds": round(median_seconds(lambda: matrix.cells(problem, three)), 5),
        "kill_table_seconds": round(
            median_seconds(lambda: kill_table(matrix, problem, calibrated)), 5
        ),
        "all_calibrated_seconds": round(
            median_seconds(lambda: sum(t.kills.nnz for t in matrix_kills(matrix, calibrated)), 3), 3
        ),
        "all_fixed_seconds": round(
            median_seconds(lambda: sum(t.kills.nnz for t in matrix_kills(matrix, fixed)), 3), 3
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=100)
    parser.add_argument("--mutants", type=int, default=100)
    parser.add_argument("--inputs", type=int, default=64)
    options = parser.parse_args()
    shapes = {
        "realistic": (realistic, options.problems, options.mutants),
        "one problem": (realistic, 1, options.problems * options.mutants),
        "incompressible": (incompressible, options.problems, options.mutants),
    }
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, (source, problems, mutants) in shapes.items():
            path = Path(folder) / name.replace(" ", "-")
            written = build(path, source, problems, mutants, options.inputs)
            results[name] = bench(path, written)
    machine = {
        "cpus": os.cpu_count(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "pyarrow": pyarrow.__version__,
    }
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps({"machine": machine, "matrices": results}, indent=2)
    (RESULTS / "bench_store.json").write_text(text + "\n", encoding="utf-8")
    keys = list(next(iter(results.values())))
    lines = [f"| | {' | '.join(results)} |", f"|---|{'---|' * len(results)}"]
    lines += [f"| {k} | {' | '.join(str(r[k]) for r in results.values())} |" for k in keys]
    table = "\n".join(lines)
    (RESULTS / "bench_store.md").write_text(table + "\n", encoding="utf-8")
    print(table)


if __name__ == "__main__":
    run_script(main)
