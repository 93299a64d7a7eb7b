"""Which sources are compiled together: a kernel's hash depends on the unit that it stands in."""

from collections.abc import Sequence

from gpu_eval.campaign.implementations import Implementation
from gpu_eval.devices.base import KernelSource
from suiteopt.matrix.schema import Kind

COMPILE_CHUNK = 48
"""Sources in one compile task: about one unit of the host compiler."""


def compile_chunks(implementations: Sequence[Implementation]) -> list[list[KernelSource]]:
    """Divide a problem's sources into compile tasks, in order; substrates and controls first."""
    originals: list[KernelSource] = []
    mutants: list[KernelSource] = []
    wild: list[KernelSource] = []
    lists = {Kind.MUTANT: mutants, Kind.WILD: wild}
    for implementation in implementations:
        if implementation.source is None or implementation.is_launch_fault:
            continue
        lists.get(implementation.kind, originals).append(implementation.source)
    chunks = [originals] if originals else []
    # Wild kernels have units of their own, which leaves those of all others as they were.
    for sources in (mutants, wild):
        chunks += [sources[i : i + COMPILE_CHUNK] for i in range(0, len(sources), COMPILE_CHUNK)]
    return chunks
