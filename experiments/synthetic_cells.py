"""Matrices for measuring the store: statistics computed of made-up outputs, or drawn."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from suiteopt.matrix.schema import COUNTS, STATISTICS, Status
from suiteopt.matrix.tables import floor_column
from suiteopt.matrix.writer import MatrixWriter

ELEMENTS = 256
CONTROLS = 6
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
