"""The planted faults of ``planted.cu``, one for each tool: its positive control."""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from gpu_eval.compilation.labelled import compile_labelled
from gpu_eval.devices.base import KernelSource
from gpu_eval.devices.sanitizer_job import JobDirectory, SanitizerSubject
from gpu_eval.devices.sanitizer_reports import Tool
from gpu_eval.problems.plan import (
    ArgumentType,
    ResolvedArgument,
    ResolvedLaunch,
    ResolvedPlan,
    ResolvedWorkspace,
)

ELEMENTS = 100
"""Of each buffer: 400 bytes, which no allocator rounds to."""
THREADS = 128
CLEAN = "planted_none"
PLANTED: Mapping[Tool, str] = {
    Tool.RACECHECK: "planted_race",
    Tool.MEMCHECK: "planted_overrun",
    Tool.INITCHECK: "planted_uninitialised",
    Tool.SYNCCHECK: "planted_barrier",
}
"""The kernel whose fault a tool must see."""


def planted_source() -> KernelSource:
    """Return the planted kernels."""
    text = files("gpu_eval.devices").joinpath("planted.cu").read_text()
    kernels = (CLEAN, *PLANTED.values())
    return KernelSource("planted", {"planted.cu": text}, "planted.cu", kernels)


def planted_job(directory: Path, ordinal: int = 0) -> JobDirectory:
    """Return a job on their input, in an empty directory."""
    import torch

    tensors = {"x": torch.linspace(-1.0, 1.0, ELEMENTS)}
    return JobDirectory(directory, tensors, {"out": ELEMENTS * 4}, ordinal)


def planted_subject(kernel: str, number: int, architecture: str) -> SanitizerSubject:
    """Return one of them, compiled, with the launch that shows its fault."""
    pointers = [ResolvedArgument(ArgumentType.POINTER, n) for n in ("x", "scratch", "out")]
    arguments = (*pointers, ResolvedArgument(ArgumentType.INT32, ELEMENTS))
    launch = ResolvedLaunch(kernel, (1, 1, 1), (THREADS, 1, 1), 0, arguments)
    plan = ResolvedPlan((launch,), (ResolvedWorkspace("scratch", ELEMENTS, False),))
    labelled = compile_labelled(planted_source(), number, architecture)
    return SanitizerSubject(number, labelled, plan)
