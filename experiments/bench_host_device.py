"""What a cell costs on the host device: poison, run, compare, from Python, kernel by kernel.

Kernels are the corpus's own CUDA implementations on the first candidate input of a profile
(`demo`: outputs of at most 4,096 elements, reductions of 256 at most). Beside each whole cell
stands what it is made of, measured in the same process and in turn with it: the launches alone,
the comparison alone, and for scale torch's own operation followed by `torch.allclose`. Times are
medians of this thread's processor time, so that a busy machine changes little.

A second table compiles different kernels one to a unit and 48 to a unit.

Run: python -m experiments.bench_host_device [--repeats 60] [--profile demo]
Writes experiments/results/bench_host_device.json and bench_host_device.md.
"""

import argparse
import json
import os
import platform
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from gpu_eval.campaign.cases import CaseFactory
from gpu_eval.campaign.pool import candidate_pool
from gpu_eval.campaign.shapes import PROFILES
from gpu_eval.compilation.host import BATCH
from gpu_eval.devices.base import KernelSource
from gpu_eval.devices.host import HostDevice
from gpu_eval.devices.host_session import HostSession
from gpu_eval.problems.check_runs import compile_all
from gpu_eval.problems.definition import Problem
from gpu_eval.problems.loader import kernel_source, load_corpus
from gpu_eval.problems.tensors import dimensions
from suiteopt.console import run_script
from suiteopt.matrix.schema import Status

RESULTS = Path(__file__).parent / "results"
LIMIT_MS = 3.5


def median_ms(calls: list[Callable[[], Any]], repeats: int) -> list[float]:
    """Run calls in turn and return each one's median processor time, in milliseconds."""
    taken: list[list[float]] = [[] for _ in calls]
    for call in calls:
        call()
    for _ in range(repeats):
        for index, call in enumerate(calls):
            start = time.thread_time()
            call()
            taken[index].append(1e3 * (time.thread_time() - start))
    return [statistics.median(times) for times in taken]


def measure_cells(
    problem: Problem, device: HostDevice, session: HostSession, scratch: Path, options: Any
) -> list[dict[str, Any]]:
    """Measure every CUDA implementation of a problem on the profile's first input."""
    pool_input = candidate_pool(problem, PROFILES[options.profile])[0]
    case = CaseFactory(problem, "cpu").get(pool_input).case
    values = dimensions(problem, pool_input.shape)
    session.bind(case)
    rows = []
    for runnable in compile_all(problem, device, scratch, os.cpu_count() or 1):
        if runnable.binary is None or runnable.substrate is None:
            continue
        binary = runnable.binary
        plan = runnable.substrate.plan.resolve(values, problem.scalars)
        outcomes = [session.run(binary, plan, schedule=s) for s in (0, 1)]
        if any(outcome.status is not Status.OK for outcome in outcomes):
            raise RuntimeError(f"{problem.id} {runnable.name}: {outcomes}")
        produced = session.outputs()
        launches: list[float] = []

        def cell(binary: Any = binary, plan: Any = plan, launches: list[float] = launches) -> None:
            launches.append(session.run(binary, plan).seconds)

        def today() -> None:
            for name, output in problem.reference(case.tensors).items():
                torch.allclose(case.reference[name], output, atol=1e-4, rtol=1e-4)

        def judge(produced: Any = produced) -> None:
            session.judge(produced)

        whole, compared, torch_ms = median_ms([cell, judge, today], options.repeats)
        rows.append(
            {
                "problem": problem.id,
                "implementation": runnable.name,
                "outputs": sum(t.numel() for t in produced.values()),
                "shape": dict(pool_input.shape),
                "cell_ms": round(whole, 4),
                "launches_ms": round(1e3 * statistics.median(launches), 4),
                "judge_ms": round(compared, 4),
                "torch_and_allclose_ms": round(torch_ms, 4),
                "cell_over_torch": round(whole / torch_ms, 1),
                "schedules_agree": outcomes[0].output_hash == outcomes[1].output_hash,
            }
        )
    return rows


def child_seconds() -> float:
    """Return the processor time of all ended child processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure_compilation(problem: Problem, device: HostDevice, scratch: Path) -> dict[str, Any]:
    """Compile variants of a substrate: each alone, and all in one unit."""
    base = kernel_source(problem, problem.substrates[0])

    def variant(index: int) -> KernelSource:
        files = {**base.files, base.main: f"{base.files[base.main]}\n// variant {index}\n"}
        return KernelSource(f"{base.id}/{index}", files, base.main, base.kernels, base.flags)

    start = child_seconds()
    for index in range(4):
        device.compile([variant(index)], scratch / "alone", 1)
    alone = (child_seconds() - start) / 4
    start, own = child_seconds(), time.process_time()
    device.compile([variant(index) for index in range(BATCH)], scratch / "batch", 1)
    return {
        "problem": problem.id,
        "alone_ms": round(1e3 * alone, 1),
        "in_unit_ms": round(1e3 * (child_seconds() - start) / BATCH, 1),
        "hash_and_store_ms": round(1e3 * (time.process_time() - own) / BATCH, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=60)
    parser.add_argument("--profile", default="demo", choices=sorted(PROFILES))
    options = parser.parse_args()
    torch.set_num_threads(1)
    cells: list[dict[str, Any]] = []
    compilation = []
    with tempfile.TemporaryDirectory() as directory:
        scratch = Path(directory)
        device = HostDevice(scratch)
        with device.open() as session:
            for problem in load_corpus().problems.values():
                cells += measure_cells(problem, device, session, scratch, options)
                compilation.append(measure_compilation(problem, device, scratch / problem.name))
    mean = statistics.mean(row["cell_ms"] for row in cells)
    result = {
        "machine": device.describe(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "profile": options.profile,
        "repeats": options.repeats,
        "limit_ms": LIMIT_MS,
        "mean_cell_ms": round(mean, 4),
        "worst_cell_ms": max(row["cell_ms"] for row in cells),
        "cells": cells,
        "compilation": compilation,
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "bench_host_device.json").write_text(json.dumps(result, indent=1) + "\n")
    text = table(result)
    (RESULTS / "bench_host_device.md").write_text(text)
    print(text)


def table(result: dict[str, Any]) -> str:
    lines = [
        f"Host device, profile {result['profile']}: {result['mean_cell_ms']:.2f} ms a cell on "
        f"average, {result['worst_cell_ms']:.2f} at most (limit {result['limit_ms']}); "
        f"{result['machine']['model']}, {result['machine']['compiler']}",
        "",
        "| problem | implementation | outputs | cell ms | launches ms | compare ms | "
        "torch + allclose ms |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {r['problem']} | {r['implementation']} | {r['outputs']} | {r['cell_ms']:.3f} | "
        f"{r['launches_ms']:.3f} | {r['judge_ms']:.3f} | {r['torch_and_allclose_ms']:.3f} |"
        for r in result["cells"]
    ]
    lines += [
        "",
        f"| compile, processor time a kernel | alone ms | {BATCH} in a unit ms | "
        "machine code and store ms |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {r['problem']} | {r['alone_ms']:.0f} | {r['in_unit_ms']:.0f} | "
        f"{r['hash_and_store_ms']:.1f} |"
        for r in result["compilation"]
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    run_script(main)
