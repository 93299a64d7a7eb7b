"""A million mutants by a thousand inputs, chosen from disk: time and peak memory of a process.

Run: python -m experiments.bench_scale [--sizes 100x10000 1x1000000] [--folder DIR]
Writes experiments/results/bench_scale.json and bench_scale.md. With --folder the matrix is kept
there and used again.

Mutants differ in how hard they are to kill and inputs in how much they show; 5% of the cells are
kills. Only these are stored, beside the controls' cells: the others count as not run, which is
what --allow-incomplete is for. The matrix of all cells would be twenty times as large on disk. A
problem too large for a table is read in pieces and kept in compressed rows.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.memory import peak_mib
from experiments.synthetic_matrix import (
    cells_of,
    header_of,
    implementations_of,
    inputs_of,
    problems_of,
)
from suiteopt.console import run_script
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.writer import MatrixWriter
from suiteopt.selection.question import Objective
from suiteopt.selection.select import select

RESULTS = Path(__file__).parent / "results"
SIZES = ((100, 10_000), (1, 1_000_000))
INPUTS = 1000
PART = 10_000
SHARE = 0.05
LIMIT_GIB = 4.0


def write(path: Path, problems: int, mutants: int) -> None:
    """Write the matrix, one problem after the other."""
    random = np.random.default_rng(0)
    names = [f"scale/{number:03}" for number in range(problems)]
    columns = ["own-0", *(f"recipe-{number:03}" for number in range(INPUTS - 1))]
    writer = MatrixWriter(path, header_of())
    writer.write_problems(problems_of(names))
    rules = random.integers(0, 60, mutants)
    writer.write_implementations(
        pd.concat([implementations_of(name, rules) for name in names], ignore_index=True)
    )
    ids = {name: [f"{name}:{column}" for column in columns] for name in names}
    writer.write_inputs(
        pd.concat([inputs_of(name, ids[name], columns) for name in names], ignore_index=True)
    )
    for name in names:
        about = implementations_of(name, rules)
        writer.write_cells(name, parts(random, about, ids[name]))
    writer.finish(True)


def parts(
    random: np.random.Generator, about: pd.DataFrame, inputs: list[str]
) -> Iterator[pd.DataFrame]:
    """Draw the kills of a problem, some mutants at a time, and its controls' cells."""
    names = np.array(inputs, dtype=object)
    controls = about["implementation"][about["kind"] == "control"].to_numpy()
    mutants = about["implementation"][about["kind"] == "mutant"].to_numpy()
    difficulty = random.beta(0.5, 0.5 / SHARE - 0.5, len(mutants))[:, None]
    strength = random.lognormal(0.0, 0.5, INPUTS)[None, :] / np.exp(0.125)
    for start in range(0, len(mutants), PART):
        some = slice(start, start + PART)
        chance = np.clip(difficulty[some] * strength, 0, 1)
        rows, places = np.nonzero(random.random(chance.shape) < chance)
        errors = 10.0 ** random.uniform(-3.0, 0.0, len(rows))
        yield cells_of(mutants[some][rows].tolist(), names[places].tolist(), errors)
    errors = 10.0 ** random.uniform(-7.0, -6.0, len(controls) * INPUTS)
    yield cells_of(np.repeat(controls, INPUTS).tolist(), inputs * len(controls), errors)


def child(path: Path) -> dict[str, Any]:
    """Open, choose two inputs a problem, and say what that took; in a process of its own."""
    wall, processor = time.perf_counter(), time.process_time()
    matrix = Matrix.open(path)
    found = select(matrix, 2, allow_incomplete=True, objective=Objective.COVERAGE)
    return {
        "seconds": time.perf_counter() - wall,
        "processor_seconds": time.process_time() - processor,
        "peak_gib": peak_mib() / 1024,
        "problems": len(found.problems),
        "mutants": sum(part.selection.total for part in found.problems),
        "detected": sum(part.selection.detected for part in found.problems),
        "proved": sum(part.selection.bound == part.selection.detected for part in found.problems),
    }


def measure(folder: Path, problems: int, mutants: int) -> dict[str, Any]:
    """Write the matrix where it is not there, and choose in a child process."""
    path = folder / f"{problems}x{mutants}"
    if not (path / "matrix.json").is_file():
        write(path, problems, mutants)
    done = subprocess.run(
        [sys.executable, "-m", "experiments.bench_scale", "--child", str(path)],
        check=True,
        capture_output=True,
        text=True,
    )
    cells = sum(file.stat().st_size for file in path.rglob("*.parquet"))
    load = os.getloadavg()[0]
    return {
        "inputs": INPUTS,
        "bytes": cells,
        "load_average": load,
        **json.loads(done.stdout.splitlines()[-1]),
    }


def table(result: dict[str, Any]) -> str:
    """Write the table in Markdown."""
    lines = [
        "# A large matrix, chosen from disk",
        "",
        f"{result['cpus']} cores that others used too; the load average is beside each row. Two "
        "inputs a problem, "
        f"{SHARE:.0%} of the cells are kills, the other cells of mutants are not stored and count "
        f"as not run. The limit is {LIMIT_GIB:g} GiB of peak resident memory.",
        "",
        "| problems | mutants in all | inputs a problem | on disk, MB | seconds "
        "| processor seconds | load average | peak memory, GiB | proved optimal |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in result["rows"]:
        lines.append(
            f"| {row['problems']} | {row['mutants']:,} | {row['inputs']:,} | "
            f"{row['bytes'] / 1e6:.0f} | {row['seconds']:.1f} | {row['processor_seconds']:.1f} | "
            f"{row['load_average']:.1f} | "
            f"{row['peak_gib']:.2f} | {row['proved']} of {row['problems']} |"
        )
    return "\n".join([*lines, ""])


def size(text: str) -> tuple[int, int]:
    """Read ``<problems>x<mutants of each>``."""
    problems, _, mutants = text.partition("x")
    return int(problems), int(mutants)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=size, nargs="+", help="which to measure; others stay")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        print(json.dumps(child(given.child)))
        return
    file = RESULTS / "bench_scale.json"
    rows = {}
    if given.sizes:
        rows = {
            (row["problems"], row["mutants"]): row for row in json.loads(file.read_text())["rows"]
        }
    with tempfile.TemporaryDirectory() as temporary:
        for problems, mutants in given.sizes or SIZES:
            row = measure(given.folder or Path(temporary), problems, mutants)
            rows[problems, problems * mutants] = row
    result = {"cpus": os.cpu_count(), "rows": list(rows.values())}
    RESULTS.mkdir(exist_ok=True)
    file.write_text(json.dumps(result, indent=2) + "\n")
    (RESULTS / "bench_scale.md").write_text(table(result))


if __name__ == "__main__":
    run_script(main)
