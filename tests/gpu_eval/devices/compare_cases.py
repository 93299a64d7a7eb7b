"""Outputs that are hard to compare, what is to be said of them, ``compare.cu`` on a CPU."""

import ctypes
import itertools
import mmap
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from gpu_eval.devices.base import Binary, Case, KernelSource, Session
from gpu_eval.devices.cuda_compare import (
    COMMON,
    COUNTERS,
    ENTRY,
    MAXIMA,
    PARTIAL,
    SUMS,
    THREADS,
    OutputJob,
    ZoneJob,
    job_table,
)
from gpu_eval.devices.host import HostDevice
from gpu_eval.problems.plan import ArgumentType, ResolvedArgument, ResolvedLaunch, ResolvedWorkspace
from tests.gpu_eval.devices.conftest import plan, tensor

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Records = NDArray[np.void]
Made = tuple[Floats, Floats, Doubles]
"""Output, reference, truth."""

POISON = 0x7FC0DEAD
SCRIBBLE = """
__global__ void scribble(unsigned int* commons, const unsigned int* found)
{
    commons[threadIdx.x] = found[threadIdx.x];
}
"""
"""Leaves something where blocks expect zeros."""

NUMBERS = itertools.count()
"""A session keeps its cases by name."""


def compiled_for_host(cache: Path) -> Binary:
    text = files("gpu_eval.devices").joinpath("compare.cu").read_text().replace('extern "C" ', "")
    kernels = (ENTRY, "scribble")
    source = KernelSource("compare", {"compare.cu": text + SCRIBBLE}, "compare.cu", kernels)
    (found,) = HostDevice().compile([source], cache, 1)
    assert found.path is not None, found.error
    return found


class Kernel:
    """Launches ``compare.cu`` over outputs and zones in this process's memory."""

    def __init__(self, session: Session, binary: Binary) -> None:
        self._session = session
        self._binary = binary

    def __call__(
        self,
        outputs: list[OutputJob],
        zones: list[ZoneJob] | None = None,
        most_blocks: int = 3,
        schedule: int = 0,
        launches: int = 1,
    ) -> Records:
        table, owners = job_table(outputs, zones or [], most_blocks)
        return self.launched(table, owners, schedule, launches)

    def launched(
        self,
        table: NDArray[np.void],
        owners: NDArray[np.int32],
        schedule: int = 0,
        launches: int = 1,
        serial: int = 1,
        commons: NDArray[np.void] | None = None,
    ) -> Records:
        """Launch over a table that is ready; `commons` is what blocks find instead of zeros."""
        fields = PARTIAL.itemsize // 8
        zeros = torch.zeros(len(table) * fields, dtype=torch.int64)
        inputs = {
            "table": torch.from_numpy(table.view(np.int64).copy()),
            "owners": torch.from_numpy(owners.copy()),
        }
        if commons is not None:
            inputs["found"] = torch.from_numpy(commons.view(np.int32).copy())
        self._session.bind(
            Case(f"compare {next(NUMBERS)}", inputs, {"results": zeros}, {"results": zeros})
        )
        work = (
            ResolvedWorkspace("partials", 2 * len(owners) * fields, False),
            ResolvedWorkspace("commons", COMMON.itemsize // 4 * len(table), True),
        )
        names = ("table", "owners", "partials", "commons", "results")
        number = ResolvedArgument(ArgumentType.INT64, serial)
        arguments = [*(tensor(n) for n in names), number]
        one = plan(ENTRY, arguments, grid=len(owners), block=THREADS)
        before: tuple[ResolvedLaunch, ...] = ()
        if commons is not None:
            before = plan(
                "scribble", [tensor("commons"), tensor("found")], grid=1, block=commons.nbytes // 4
            ).launches
        repeated = type(one)(before + one.launches * launches, work)
        outcome = self._session.run(self._binary, repeated, schedule=schedule, deadline=60.0)
        assert outcome.status == "ok", outcome.message
        return self._session.outputs()["results"].numpy().view(PARTIAL)


def placed(array: NDArray[np.generic], offset: int = 0) -> NDArray[np.generic]:
    """Copy an array to an address that is `offset` elements past a multiple of 16 bytes."""
    room = np.zeros(array.nbytes + 16 + offset * array.itemsize, dtype=np.uint8)
    start = -room.ctypes.data % 16 + offset * array.itemsize
    copy = room[start : start + array.nbytes].view(array.dtype)
    copy[:] = array
    return copy


@contextmanager
def before_a_guard(made: Made) -> Iterator[Made]:
    """Copy arrays to where a page that may not be read begins behind each of them."""
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    with ExitStack() as stack:
        copies = []
        for array in made:
            held = -(-array.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
            room = np.frombuffer(mmap.mmap(-1, held + mmap.PAGESIZE), np.uint8)
            guard = room.ctypes.data + held
            assert protect(guard, mmap.PAGESIZE, 0) == 0
            stack.callback(protect, guard, mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_WRITE)
            copy = room[held - array.nbytes : held].view(array.dtype)
            copy[:] = array
            copies.append(copy)
        yield copies[0], copies[1], copies[2]


def expected_maxima(out: Floats, reference: Floats, truth: Doubles) -> dict[str, float]:
    """Return the maxima of a record by their definition, every quotient divided out in fp64."""
    o, r = out.astype(np.float64), reference.astype(np.float64)
    own = np.isfinite(o) & np.isfinite(r)
    true = np.isfinite(o) & np.isfinite(truth)
    o_true, t = o[true], truth[true]
    o, r = o[own], r[own]
    d, a, e = np.abs(o - r), np.abs(r), np.abs(o_true - t)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(d == 0, 0.0, d / a)
    found = {
        "allclose_candidate": d / (1 + np.abs(o)),
        "allclose_reference": d / (1 + a),
        "max_abs": d,
        "max_rel": relative,
        "either_or": np.minimum(d, relative),
        "reference_peak": a,
        "truth_allclose": e / (1 + np.abs(t)),
        "truth_abs": e,
    }
    return {name: float(numbers.max(initial=0.0)) for name, numbers in found.items()}


def expected_counts(out: Floats, reference: Floats, truth: Doubles) -> dict[str, int]:
    nan_out, nan_ref = np.isnan(out), np.isnan(reference)
    unequal = (np.isinf(out) | np.isinf(reference)) & (out != reference)
    found = {
        "nan_both": nan_out & nan_ref,
        "nan_one": nan_out ^ nan_ref,
        "inf_mismatch": unequal & ~nan_out & ~nan_ref,
        "nonfinite_output": ~np.isfinite(out),
        "unwritten": out.view(np.uint32) == POISON,
        "own_pairs": np.isfinite(out) & np.isfinite(reference),
        "truth_pairs": np.isfinite(out) & np.isfinite(truth),
    }
    return {name: int(which.sum()) for name, which in found.items()}


def check(record: np.void, out: Floats, reference: Floats, truth: Doubles) -> None:
    maxima = dict(zip(MAXIMA, record["maxima"].tolist(), strict=True))
    assert maxima == expected_maxima(out, reference, truth)  # to the bit
    counts = dict(zip(COUNTERS, record["counts"].tolist(), strict=True))
    assert counts == expected_counts(out, reference, truth)
    own = reference[np.isfinite(out) & np.isfinite(reference)].astype(np.float64)
    true = np.isfinite(out) & np.isfinite(truth)
    t, e = truth[true], out[true].astype(np.float64) - truth[true]
    with np.errstate(over="ignore"):
        squares = [float(np.sum(v**2)) for v in (own, t, e)]
    assert record["sums"].tolist() == pytest.approx(squares, rel=1e-13, abs=0.0), SUMS


def noisy(count: int, relative: float, seed: int = 3) -> Made:
    generator = np.random.default_rng(seed)
    reference = generator.standard_normal(count).astype(np.float32)
    noise = 1 + relative * generator.standard_normal(count)
    truth = reference.astype(np.float64) * (1 + 1e-8 * generator.standard_normal(count))
    return (reference * noise).astype(np.float32), reference, truth


def nothing(count: int) -> Made:
    """Every relative error is exactly 1, so that every element ties with the maximum."""
    _, reference, truth = noisy(count, 0.0)
    return np.zeros(count, np.float32), reference, truth


def rising(count: int) -> Made:
    """Each element sets a new maximum of every quotient, by less than the tests' margin."""
    _, reference, truth = noisy(count, 0.0)
    return (reference * (1.5 + 2e-7 * np.arange(count))).astype(np.float32), reference, truth


def tiny(count: int) -> Made:
    """Denormal numbers, whose errors and quotients have few bits."""
    words = np.random.default_rng(5).integers(0, 40, (2, count), dtype=np.uint32)
    out, reference = words.view(np.float32)
    return out, reference, reference.astype(np.float64) * 1e-290


def faint(count: int) -> Made:
    """Truths that are nearly nothing: as fp32 the largest errors are rounded up by a tenth."""
    truth = np.random.default_rng(7).uniform(0, 2.5e-45, count)
    return np.zeros(count, np.float32), np.zeros(count, np.float32), truth


def huge(count: int) -> Made:
    """Differences at the end of fp32, and beyond it."""
    out, reference, truth = noisy(count, 1.0)
    with np.errstate(over="ignore"):
        return out * np.float32(1e38), reference * np.float32(1e38), truth * 1e300


def spoiled(count: int) -> Made:
    out, reference, truth = noisy(count, 1e-5)
    out[::7], reference[::11], out[::13] = np.nan, np.inf, -np.inf
    out.view(np.uint32)[::17] = POISON
    truth[::19] = np.nan
    return out, reference, truth


def equal(count: int) -> Made:
    _, reference, _ = noisy(count, 0.0)
    return reference.copy(), reference, reference.astype(np.float64)


PATTERNS: dict[str, Callable[[int], Made]] = {
    "close": lambda n: noisy(n, 1e-6),
    "far": lambda n: noisy(n, 0.3),
    "nothing": nothing,
    "rising": rising,
    "tiny": tiny,
    "faint": faint,
    "huge": huge,
    "spoiled": spoiled,
    "equal": equal,
}
