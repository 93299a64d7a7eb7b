"""Which sources are compiled together, and which implementations run in one task.

A kernel's hash depends on the unit that it stands in; a cell on nothing but its implementation and
its input.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeVar

from gpu_eval.campaign.implementations import Implementation
from gpu_eval.devices.base import KernelSource
from suiteopt.matrix.schema import Kind

_Item = TypeVar("_Item")

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


def in_blocks(items: Sequence[_Item], most: int) -> list[Sequence[_Item]]:
    """Divide items, in order, into as few blocks as hold ``most`` each, of about one size."""
    count = -(-len(items) // most)
    edges = [len(items) * block // count for block in range(count)] + [len(items)] if count else []
    return [items[a:b] for a, b in pairwise(edges)]
