"""A million mutants by a thousand inputs, chosen from disk: time and peak memory of a process.

Run: python experiments/bench_scale.py [--problems 100] [--mutants 10000] [--folder DIR]
Writes experiments/results/bench_scale.json and bench_scale.md. With --folder the matrix is kept
there and used again.

Mutants differ in how hard they are to kill and inputs in how much they show; 5% of the cells are
kills. Only these are stored, beside the controls' cells: the others count as not run, which is
what --allow-incomplete is for. The matrix of all cells would be twenty times as large on disk, and
no larger in memory once a problem's kills are known.
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
from suiteopt.selection.select import select

RESULTS = Path(__file__).parent / "results"
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
    found = select(Matrix.open(path), 2, allow_incomplete=True)
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
        [sys.executable, __file__, "--child", str(path)],
        check=True,
        capture_output=True,
        text=True,
    )
    cells = sum(file.stat().st_size for file in path.rglob("*.parquet"))
    return {"inputs": INPUTS, "bytes": cells, **json.loads(done.stdout.splitlines()[-1])}


def table(result: dict[str, Any]) -> str:
    """Write the table in Markdown."""
    lines = [
        "# A large matrix, chosen from disk",
        "",
        f"{result['cpus']} cores, load average {result['load_average']:.1f}. Two inputs a problem, "
        f"{SHARE:.0%} of the cells are kills, the other cells of mutants are not stored and count "
        f"as not run. The limit is {LIMIT_GIB:g} GiB of peak resident memory.",
        "",
        "| problems | mutants in all | inputs a problem | on disk, MB | seconds "
        "| processor seconds | peak memory, GiB | proved optimal |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in result["rows"]:
        lines.append(
            f"| {row['problems']} | {row['mutants']:,} | {row['inputs']:,} | "
            f"{row['bytes'] / 1e6:.0f} | {row['seconds']:.1f} | {row['processor_seconds']:.1f} | "
            f"{row['peak_gib']:.2f} | {row['proved']} of {row['problems']} |"
        )
    return "\n".join([*lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=100)
    parser.add_argument("--mutants", type=int, default=10_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        print(json.dumps(child(given.child)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        rows = [
            measure(folder, given.problems, given.mutants),
            measure(folder, 1, 10 * given.mutants),
        ]
    result = {"cpus": os.cpu_count(), "load_average": os.getloadavg()[0], "rows": rows}
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "bench_scale.json").write_text(json.dumps(result, indent=2) + "\n")
    (RESULTS / "bench_scale.md").write_text(table(result))


if __name__ == "__main__":
    run_script(main)
