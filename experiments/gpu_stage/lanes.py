"""Runs side by side: short grids of several mutants at the same time in one context."""

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from experiments.gpu_stage.rows import Clock, Options, Row
from gpu_eval.devices.base import Binary, Case, Device, Job, Session
from gpu_eval.devices.registry import open_device
from gpu_eval.problems.plan import (
    ArgumentType,
    ResolvedArgument,
    ResolvedLaunch,
    ResolvedPlan,
)

SOURCE = r"""
__global__ void row_sums(const float* x, float* y, int cols) {
    __shared__ float parts[256];
    const float* row = x + (long long)blockIdx.x * cols;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += 256) sum += row[i];
    parts[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) y[blockIdx.x] = parts[0];
}
"""
ROWS = 21
"""Blocks of a launch, of which a GPU runs hundreds at the same time."""
COLUMNS = 98_304
AT_ONCE = (2, 4, 6, 8)
JOBS = 240
TRIES = 3


def measure(options: Options) -> Iterator[Row]:
    """Yield a row for each number of runs at the same time."""
    on_cpu = options.device == "cpu"
    columns, jobs = (COLUMNS // 64, 4) if on_cpu else (COLUMNS, JOBS)
    device = open_device(options.device)
    with tempfile.TemporaryDirectory() as directory, device.open() as session:
        job = _job(_compiled(device, Path(directory)), columns)
        session.bind(_case(columns, device.torch_device))
        single, first = _seconds(session, job, jobs, 1)
        yield Row(3, _name(1), None if on_cpu else single * 1e6, "µs a run", note=_note(session))
        for count in AT_ONCE:
            seconds, outcome = _seconds(session, job, jobs, count)
            same = outcome == first
            note = "" if on_cpu else f"{single / seconds:.2f} times as many a second"
            yield Row(
                3,
                _name(count),
                None if on_cpu else seconds * 1e6,
                "µs a run",
                note=note if same else f"THE OUTCOME IS ANOTHER ONE; {note}",
            )


def _name(count: int) -> str:
    return f"{ROWS} blocks over {COLUMNS} columns each, {count} at the same time"


def _note(session: Session) -> str:
    return f"the session has {session.lanes} lanes for this case"


def _compiled(device: Device, cache: Path) -> Binary:
    from gpu_eval.devices.base import KernelSource

    source = KernelSource("rows", {"rows.cu": SOURCE}, "rows.cu", ("row_sums",))
    (binary,) = device.compile([source], cache, 1)
    if binary.path is None:
        raise RuntimeError(binary.error)
    return binary


def _job(binary: Binary, columns: int) -> Job:
    arguments = (
        ResolvedArgument(ArgumentType.POINTER, "x"),
        ResolvedArgument(ArgumentType.POINTER, "y"),
        ResolvedArgument(ArgumentType.INT32, columns),
    )
    launch = ResolvedLaunch("row_sums", (ROWS, 1, 1), (256, 1, 1), 0, arguments)
    return Job(binary, ResolvedPlan((launch,)), 0, 30.0)


def _case(columns: int, torch_device: str) -> Case:
    import torch

    x = torch.linspace(-1, 1, ROWS * columns, device=torch_device).reshape(ROWS, columns)
    return Case("rows", {"x": x}, {"y": x.sum(1)}, {"y": x.double().sum(1)})


def _seconds(session: Session, job: Job, jobs: int, count: int) -> tuple[float, object]:
    """Return the least seconds that a run took among so many at a time, and its outcome."""
    session.run_many([job] * count)
    found: list[float] = []
    batches = max(jobs // count, 1)
    for _ in range(TRIES):
        clock = Clock()
        for _ in range(batches):
            outcomes = session.run_many([job] * count)
        found.append(clock.seconds / (batches * count))
    outcome = replace(outcomes[-1], seconds=0.0)
    if any(replace(o, seconds=0.0) != outcome for o in outcomes):
        raise RuntimeError("runs at the same time differ from each other")
    return min(found), outcome
