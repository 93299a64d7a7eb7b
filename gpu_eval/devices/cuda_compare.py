"""One launch of ``compare.cu`` over a table of jobs, its records, and what they say."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gpu_eval.devices.base import DeviceLostError, Outcome
from suiteopt.matrix.schema import Count, Statistic, Status

# Names of the fields of a result, in the order of compare.cu.
MAXIMA: Final = (
    "allclose_candidate",
    "allclose_reference",
    "max_abs",
    "max_rel",
    "either_or",
    "reference_peak",
    "truth_allclose",
    "truth_abs",
)
SUMS: Final = ("reference_squares", "truth_squares", "error_squares")
COUNTERS: Final = (
    "nan_both",
    "nan_one",
    "inf_mismatch",
    "nonfinite_output",
    "unwritten",
    "own_pairs",
    "truth_pairs",
)
PARTIAL: Final = np.dtype(
    [
        ("maxima", np.float64, len(MAXIMA)),
        ("sums", np.float64, len(SUMS)),
        ("counts", np.uint64, len(COUNTERS)),
        ("hash", np.uint64),
        ("launch", np.int64),
    ]
)
JOB: Final = np.dtype(
    [
        ("out", np.uint64),
        ("reference", np.uint64),
        ("truth", np.uint64),
        ("count", np.int64),
        ("word", np.uint32),
        ("refill", np.uint32),
        ("blocks", np.uint32),
        ("first", np.uint32),
    ]
)
COMMON: Final = np.dtype(
    [
        ("limits", np.uint32, len(MAXIMA)),
        ("ended", np.uint32),
        ("counted", np.uint32),
        ("spare", np.uint32, 6),
    ]
)
"""What blocks of a job tell each other; all zeros between launches."""

ENTRY: Final = "compare"
THREADS: Final = 256
MOST_BLOCKS: Final = 528
"""Blocks of the largest job, whatever the GPU: the order of its sums, and so their bits, depends
on it. Four for each multiprocessor of an H100 or H200, all resident at once."""
ZONE_QUADS: Final = 4
"""Loads of 16 bytes that a thread has under way in a zone."""


@dataclass(frozen=True, slots=True)
class OutputJob:
    """An output to compare: addresses, number of elements, and what an unwritten one holds.

    Attributes
    ----------
    out, reference, truth : int
        Addresses of fp32, fp32 and fp64 elements; read 16 bytes at a time where all three allow.
    count : int
    poison : int
        The 32-bit word that outputs hold before a run.
    refill : bool
        Whether to leave the poison in every element, in the same pass, for the next run.
    """

    out: int
    reference: int
    truth: int
    count: int
    poison: int
    refill: bool = False


@dataclass(frozen=True, slots=True)
class ZoneJob:
    """Words that must not have changed: address, number, and their copy (0: all are `word`)."""

    address: int
    words: int
    pristine: int
    word: int


def job_table(
    outputs: Sequence[OutputJob], zones: Sequence[ZoneJob], most_blocks: int = MOST_BLOCKS
) -> tuple[NDArray[np.void], NDArray[np.int32]]:
    """Return the jobs as the kernel reads them, outputs first, and the job of each block."""
    table = np.zeros(len(outputs) + len(zones), dtype=JOB)
    for row, output in zip(table, outputs, strict=False):
        row["out"], row["reference"], row["truth"] = output.out, output.reference, output.truth
        row["count"], row["word"], row["refill"] = output.count, output.poison, output.refill
        row["blocks"] = _blocks(output.count, 4 * THREADS, most_blocks)
    for row, zone in zip(table[len(outputs) :], zones, strict=True):
        row["out"], row["reference"] = zone.address, zone.pristine
        row["count"], row["word"] = zone.words, zone.word
        row["blocks"] = _blocks(zone.words, 4 * THREADS * ZONE_QUADS, most_blocks)
    table["first"] = np.cumsum(table["blocks"]) - table["blocks"]
    return table, np.repeat(np.arange(len(table), dtype=np.int32), table["blocks"])


def _blocks(count: int, each: int, most: int) -> int:
    """Return as few blocks as do with the same number of rounds: all have the same to do."""
    tiles = max(1, -(-count // each))
    rounds = -(-tiles // most)
    return -(-tiles // rounds)


class Comparison:
    """The comparison of all outputs of a run, and the check of all zones, in one launch.

    One launch at a time: blocks leave their partials and count themselves in buffers of this
    object.

    Parameters
    ----------
    driver : module
        ``pycuda.driver``, with a current context.
    module : object
        A loaded module that holds `ENTRY` of ``compare.cu``.
    stream : pycuda.driver.Stream, optional
        Where launches go, and behind each a copy of its records to the host: whoever has waited
        for the stream reads them without a further look at the device.
    places : int
        How many launches may be queued on the stream before the first one's records are read.
    """

    def __init__(self, driver: Any, module: Any, stream: Any = None, places: int = 1) -> None:
        self._driver = driver
        self._stream = stream
        self._host: Any = None
        self._serials = [0] * places
        self._function = module.get_function(ENTRY).prepare("PPPPPq")
        self._buffers: dict[str, tuple[Any, int]] = {}
        self._jobs = self._blocks = self._outputs = self._launches = 0

    def prepare(
        self,
        outputs: Sequence[OutputJob],
        zones: Sequence[ZoneJob],
        most_blocks: int = MOST_BLOCKS,
    ) -> None:
        """Say what every launch from now on compares and checks; waits for what is under way."""
        table, owners = job_table(outputs, zones, most_blocks)
        self._jobs, self._blocks, self._outputs = len(table), len(owners), len(outputs)
        if not self._jobs:
            return
        self._driver.memcpy_htod(self._buffer("table", table.nbytes), table)
        self._driver.memcpy_htod(self._buffer("owners", owners.nbytes), owners)
        self._buffer("partials", self._blocks * PARTIAL.itemsize)
        self._buffer("results", self._jobs * PARTIAL.itemsize)
        wanted = len(self._serials) * self._jobs
        if self._stream is not None and (self._host is None or len(self._host) < wanted):
            # Only memory that the system does not move is copied to while the host goes on.
            nbytes = 2 * wanted * PARTIAL.itemsize
            self._host = self._driver.pagelocked_empty(nbytes, np.uint8).view(PARTIAL)
        # The last block of a job leaves zeros, but not that of a launch that was cut short.
        nbytes = self._jobs * COMMON.itemsize
        self._driver.memset_d32(self._buffer("commons", nbytes), 0, nbytes // 4)

    def launch(self, place: int = 0) -> None:
        """Queue the comparison behind what has been queued; ``place`` is where it is read."""
        if not self._jobs:
            return
        names = ("table", "owners", "partials", "commons", "results")
        self._launches += 1
        self._serials[place] = self._launches
        pointers = [int(self._buffers[name][0]) for name in names]
        grid, block = (self._blocks, 1), (THREADS, 1, 1)
        if self._stream is None:
            self._function.prepared_call(grid, block, *pointers, self._launches)
            return
        self._function.prepared_async_call(grid, block, self._stream, *pointers, self._launches)
        self._driver.memcpy_dtoh_async(self._records(place), pointers[-1], self._stream)

    def _records(self, place: int) -> Any:
        return self._host[place * self._jobs : (place + 1) * self._jobs]

    def read(self, place: int = 0) -> tuple[NDArray[np.void], NDArray[np.uint64]]:
        """Return the records of the outputs, and the number of changed words of each zone.

        Raises
        ------
        DeviceLostError
            If they are not those of the launch: a kernel has written over what this object
            keeps on the device, far outside its own buffers.
        """
        results = np.zeros(self._jobs, dtype=PARTIAL)
        if self._stream is not None and self._jobs:
            results[:] = self._records(place)
        elif self._jobs:
            self._driver.memcpy_dtoh(results, int(self._buffers["results"][0]))
        if (results["launch"] != self._serials[place]).any():
            message = "a stray write reached the memory of the comparison"
            raise DeviceLostError(Outcome(Status.CRASH, message=message))
        damaged = results["counts"][self._outputs :, COUNTERS.index("unwritten")]
        return results[: self._outputs], damaged

    def _buffer(self, name: str, nbytes: int) -> int:
        """Return the address of a buffer of at least so many bytes, what it held forgotten."""
        held, size = self._buffers.pop(name, (None, 0))
        if size < nbytes:
            if held is not None:
                held.free()
            size = max(nbytes, 2 * size)
            held = self._driver.mem_alloc(size)
        self._buffers[name] = (held, size)
        return int(held)

    def free(self) -> None:
        """Give the memory back."""
        for held, _ in self._buffers.values():
            held.free()
        self._buffers.clear()
        self._host = None
        self._jobs = 0


def _ratio(d: float, scale: float) -> float:
    if d == 0.0:
        return 0.0
    return d / scale if scale > 0.0 else math.inf


def statistics_of(record: np.void) -> dict[Statistic, float]:
    """Return the statistics of one output tensor from its record.

    Parameters
    ----------
    record : void
        One element of an array of dtype `PARTIAL`.
    """
    maxima = dict(zip(MAXIMA, (float(v) for v in record["maxima"]), strict=True))
    sums = dict(zip(SUMS, (float(v) for v in record["sums"]), strict=True))
    counts = dict(zip(COUNTERS, (int(v) for v in record["counts"]), strict=True))
    own, true = max(counts["own_pairs"], 1), max(counts["truth_pairs"], 1)
    rms_reference = math.sqrt(sums["reference_squares"] / own)
    rms_truth = math.sqrt(sums["truth_squares"] / true)
    rms_error = math.sqrt(sums["error_squares"] / true)
    return {
        Statistic.ALLCLOSE_CANDIDATE: maxima["allclose_candidate"],
        Statistic.ALLCLOSE_REFERENCE: maxima["allclose_reference"],
        Statistic.MAX_ABS: maxima["max_abs"],
        Statistic.MAX_REL: maxima["max_rel"],
        Statistic.EITHER_OR: maxima["either_or"],
        Statistic.GLOBAL: maxima["max_abs"] / (1.0 + maxima["reference_peak"]),
        Statistic.RMS: _ratio(maxima["max_abs"], rms_reference),
        Statistic.TRUTH_ALLCLOSE: maxima["truth_allclose"],
        Statistic.TRUTH_RMS: _ratio(maxima["truth_abs"], rms_truth),
        Statistic.TRUTH_RMS_ERROR: _ratio(rms_error, rms_truth),
    }


def counts_of(records: NDArray[np.void]) -> dict[Count, int]:
    """Return the counts of non-finite elements, summed over output tensors."""
    totals = records["counts"].sum(axis=0)
    return {count: int(totals[COUNTERS.index(count.value)]) for count in Count}


def unwritten_of(records: NDArray[np.void]) -> int:
    """Return how many elements still hold the poison."""
    return int(records["counts"][:, COUNTERS.index("unwritten")].sum())


def hash_of(records: NDArray[np.void]) -> int:
    """Return one 64-bit hash over all output tensors, in their order."""
    total = 0
    for value in records["hash"]:
        total = (total * 0x9E3779B97F4A7C15 + int(value)) & 0xFFFFFFFFFFFFFFFF
    return total
