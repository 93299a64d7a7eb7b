"""Why a CPU and a GPU disagree about a cell, as far as the two cells and the kernel's own tell."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from suiteopt.matrix.schema import COUNTS, EXCEPTION_STATUSES, Count, Family, Status

NOISE = 2.0
"""A mutant's statistic differs by no more than this times the errors of its correct kernel on both
devices where both compute the same and only references and roundings differ."""

REASONS = {
    "fatal": "the run ends in an exception on one device: a stray access meets reserved address "
    "space on the CPU, and the ground or what lies beyond it on the GPU; a barrier that some "
    "threads never reach hangs on one alone. After two such the mutant's other cells are closed",
    "undefined": "the CPU saw a write outside the buffers and a NaN, and the GPU neither: code "
    "without a meaning, here an integer division by a constant that is 0",
    "unwritten memory": "NaN or infinity on one device alone, in every order of threads: the "
    "kernel reads shared or local memory that nobody wrote, or the word behind an array. The CPU "
    "device fills shared memory with NaN before each block; on a GPU it holds what a block before "
    "left there, which are mostly finite values, often the same ones",
    "race": "repeats disagree on one device, here or (on the CPU) on another input: two threads "
    "meet in a word. The CPU device runs the threads of a block one after the other up to a "
    "barrier, in the repeat backwards: one of the two orders is often right, and a kill needs both",
    "guard word": "the CPU saw a write outside the buffers and the GPU none. Guard zones hold "
    "numbers that differ from word to word, so a kernel that loads one and stores it elsewhere is "
    "seen; where the same write meets the next image's elements, the CPU's order of blocks mends "
    "them and the GPU's does not",
    "stale output": "an element that the kernel never writes: the CPU judges over the stale right "
    "result; the GPU over the poison, a NaN, where the mutant also wrote outside, or where "
    "arithmetic on the poison made another NaN of it (x86 hands a NaN's bits on, a GPU does not)",
    "reference": "the correct kernel itself is beyond the tolerance on one device and within it on "
    "the other, since torch adds in another order on each: no input to choose for this oracle",
    "tolerance": "both devices find the same error up to rounding, and each calibrated tolerance "
    "lies on its side",
    "rounding": "both devices find the same error up to rounding, and the tolerance lies between",
    "neighbour": "finite values differ, by a rule of bounds or indices: what lies beside an array "
    "is not the same (the next shared array in one compiler's order or the other's, a register or "
    "the stack, what a guard zone holds or a block before left)",
    "value": "none of these",
}
"""The first that holds is a cell's."""

EXCEPTIONS = frozenset(str(status) for status in EXCEPTION_STATUSES)
OUTSIDE = str(Status.OUT_OF_BOUNDS)
INCOMPLETE = frozenset({OUTSIDE, str(Status.UNWRITTEN)})
ASTRAY = frozenset({str(Family.BOUNDARY), str(Family.INDEXING)})
FAILING = tuple(str(c) for c in COUNTS if c is not Count.NAN_BOTH)


@dataclass(frozen=True)
class Evidence:
    """What else is known of a pair of cells; pairs are CPU, GPU.

    Attributes
    ----------
    column : str
        The oracle's statistic.
    family : str
        Of the mutant's rule.
    unsteady : tuple of bool
        Whether the mutant disagreed with itself on any input.
    substrate : tuple of float
        The statistic of the kernel that the fault was injected into, on this input.
    limits : tuple of float
        The tolerances in force.
    """

    column: str
    family: str
    unsteady: tuple[bool, bool]
    substrate: tuple[float, float]
    limits: tuple[float, float]


def explain(cpu: Mapping[str, Any], gpu: Mapping[str, Any], evidence: Evidence) -> str:
    """Return the first of `REASONS` that holds for two cells whose verdicts differ.

    Parameters
    ----------
    cpu, gpu : mapping
        Columns of the cells; counts that were not taken are 0.
    evidence : Evidence
    """
    statuses = (str(cpu["status"]), str(gpu["status"]))
    if any(status in EXCEPTIONS for status in statuses):
        return "fatal"
    failing = tuple(any(int(cell[name]) for name in FAILING) for cell in (cpu, gpu))
    strays = statuses[0] == OUTSIDE and statuses[1] != OUTSIDE
    if strays and failing[0] and not failing[1] and not any(evidence.unsteady):
        return "undefined"
    if failing[0] and not failing[1] and not evidence.unsteady[0]:
        return "unwritten memory"
    if cpu["disagreed"] > 0 or gpu["disagreed"] > 0:
        return "race"
    if strays:
        return "guard word"
    if statuses[0] in INCOMPLETE and failing[1]:
        return "stale output"
    if failing[0] != failing[1]:
        return "unwritten memory"
    rejected = tuple(e > t for e, t in zip(evidence.substrate, evidence.limits, strict=True))
    if rejected[0] != rejected[1]:
        return "reference"
    apart = abs(float(cpu[evidence.column]) - float(gpu[evidence.column]))
    if apart <= NOISE * sum(evidence.substrate):
        return "rounding" if evidence.limits[0] == evidence.limits[1] else "tolerance"
    if evidence.unsteady[0]:
        return "race"
    return "neighbour" if evidence.family in ASTRAY else "value"
