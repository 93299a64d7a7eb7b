"""How large a matrix is and how fast it reads: 10^4 mutants x 64 inputs.

Statistics are computed, not drawn: reference outputs of 256 elements on inputs of unlike scales,
and mutants that are wrong in the ways that kernels are (one element, a tail, a scale, a shift, an
offset by a neighbour, low precision, nothing at all), many of which behave alike. A second matrix
holds independent random statistics, which nothing can compress below their 12 significant bits
and their exponent: the worst case.

Run: python experiments/bench_store.py [--problems 100] [--mutants 100] [--inputs 64]
Writes experiments/results/bench_store.json and bench_store.md.
"""

import argparse
import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
from numpy.typing import NDArray

from suiteopt.console import run_script
from suiteopt.matrix.kill import kill_table, matrix_kills
from suiteopt.matrix.oracle import parse_oracle
from suiteopt.matrix.schema import COUNTS, STATISTICS, Status
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.summary import summarise
from suiteopt.matrix.tables import floor_column
from suiteopt.matrix.writer import MatrixWriter

RESULTS = Path(__file__).parent / "results"
ELEMENTS = 256
CONTROLS = 6
LIMIT_BYTES = 24_000_000
Array = NDArray[np.float64]


def references(rng: np.random.Generator, inputs: int) -> Array:
    """Return the outputs of a kernel on inputs of unlike scale, offset and sparsity."""
    values = rng.normal(size=(inputs, ELEMENTS)) * 10.0 ** rng.uniform(-3, 3, size=(inputs, 1))
    values += (rng.random((inputs, 1)) < 0.2) * 1000.0
    values *= rng.random((inputs, ELEMENTS)) >= (rng.random((inputs, 1)) < 0.2) * 0.9
    return values.astype(np.float32).astype(np.float64)


def faulty(rng: np.random.Generator, reference: Array) -> tuple[Array, str]:
    """Return what a mutant puts out in place of the references, and with which status."""
    size = rng.choice([1e-6, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0])
    rounded = reference * (1 + rng.normal(size=reference.shape) * 6e-8)
    kind = rng.choice(
        ["none", "element", "tail", "scale", "shift", "neighbour", "half", "zero", "fatal"],
        p=[0.08, 0.1, 0.15, 0.15, 0.1, 0.2, 0.1, 0.07, 0.05],
    )
    if kind == "element":
        rounded[:, rng.integers(ELEMENTS)] *= 1 + size
    elif kind == "tail":
        rounded[:, rng.integers(1, ELEMENTS) :] = 0
    elif kind == "scale":
        rounded *= 1 + size
    elif kind == "shift":
        rounded += size
    elif kind == "neighbour":
        rounded = np.roll(rounded, int(rng.integers(1, 33)), axis=1)
    elif kind == "half":
        with np.errstate(over="ignore"):
            rounded = rounded.astype(np.float16).astype(np.float64)
    elif kind == "zero":
        rounded[:] = 0
    return rounded.astype(np.float32).astype(np.float64), "closed" if kind == "fatal" else "ok"


def measure(out: Array, ref: Array) -> dict[str, Array]:
    """Return every statistic of one implementation on all inputs, as the format defines them."""
    truth = ref * (1 + 3e-8)
    d, e = np.abs(out - ref), np.abs(out - truth)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(d == 0, 0, d / np.abs(ref))
        rms = np.sqrt((ref**2).mean(axis=1))
        return {
            "allclose_candidate": (d / (1 + np.abs(out))).max(axis=1),
            "allclose_reference": (d / (1 + np.abs(ref))).max(axis=1),
            "max_abs": d.max(axis=1),
            "max_rel": relative.max(axis=1),
            "either_or": np.minimum(d, relative).max(axis=1),
            "global": d.max(axis=1) / (1 + np.abs(ref).max(axis=1)),
            "rms": d.max(axis=1) / rms,
            "truth_allclose": (e / (1 + np.abs(truth))).max(axis=1),
            "truth_rms": e.max(axis=1) / rms,
            "truth_rms_error": np.sqrt((e**2).mean(axis=1)) / rms,
        }


def realistic(rng: np.random.Generator, mutants: int, inputs: int) -> Iterator[dict[str, Any]]:
    """Yield status and statistics of each mutant of a problem; 40% behave like another."""
    reference = references(rng, inputs)
    earlier: list[dict[str, Any]] = []
    for _ in range(mutants):
        if earlier and rng.random() < 0.4:
            yield earlier[rng.integers(len(earlier))]
            continue
        out, status = faulty(rng, reference)
        cells: dict[str, Any] = {"status": status}
        if status == str(Status.OK):
            with np.errstate(invalid="ignore"):
                overflow = ~np.isfinite(out)
                finite = np.where(overflow, reference, out)
            cells |= measure(finite, reference) | {str(count): 0 for count in COUNTS}
            cells["inf_mismatch"] = cells["nonfinite_output"] = overflow.sum(axis=1)
        earlier.append(cells)
        yield cells


def incompressible(rng: np.random.Generator, mutants: int, inputs: int) -> Iterator[dict[str, Any]]:
    """Yield independent statistics, log-uniform over nine decades."""
    for _ in range(mutants):
        drawn = {str(s): 10.0 ** rng.uniform(-8, 1, size=inputs) for s in STATISTICS}
        yield {"status": str(Status.OK), **drawn, **{str(count): 0 for count in COUNTS}}


def build(
    path: Path,
    source: Callable[[np.random.Generator, int, int], Iterator[dict[str, Any]]],
    problems: int,
    mutants: int,
    inputs: int,
) -> float:
    """Write a matrix and return the seconds that the writer took."""
    rng = np.random.default_rng(20260601)
    names = [f"level1/{number:03d}" for number in range(1, problems + 1)]
    kinds = [f"m{i:05d}" for i in range(mutants)] + [f"c{i}" for i in range(CONTROLS)]
    implementation_rows, input_rows = [], []
    for problem in names:
        for name in kinds:
            is_mutant = name.startswith("m")
            implementation_rows.append(
                {
                    "implementation": f"{problem}:{name}",
                    "problem": problem,
                    "kind": "mutant" if is_mutant else "control",
                    "family": "boundary" if is_mutant else "",
                    "witness": "profile" if is_mutant else "none",
                    "control_kind": "" if is_mutant else name,
                }
            )
        for j in range(inputs):
            input_rows.append(
                {"input": f"{problem}:i{j:03d}", "problem": problem, "role": "candidate"}
                | {floor_column(str(statistic)): 1e-8 for statistic in STATISTICS[:7]}
            )
    writer = MatrixWriter(path, {"tool": "bench_store", "device": {"name": "host"}})
    spent = -time.perf_counter()
    writer.write_problems(pd.DataFrame({"problem": names}))
    writer.write_implementations(pd.DataFrame(implementation_rows))
    writer.write_inputs(pd.DataFrame(input_rows))
    spent += time.perf_counter()
    for problem in names:
        frames = []
        control = {str(s): rng.uniform(1e-8, 3e-7, size=inputs) for s in STATISTICS}
        rows = [*source(rng, mutants, inputs), *[{"status": "ok", **control}] * CONTROLS]
        for name, cells in zip(kinds, rows, strict=True):
            frame = pd.DataFrame({"input": [f"{problem}:i{j:03d}" for j in range(inputs)]})
            frames.append(frame.assign(implementation=f"{problem}:{name}", **cells))
        whole = pd.concat(frames, ignore_index=True)
        spent -= time.perf_counter()
        writer.write_cells(problem, whole)
        spent += time.perf_counter()
    writer.finish(True)
    return spent


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
