"""One of several lanes of a GPU: a stream with an arena, a comparison and results of its own.

Several runs may be queued before the first one's result is taken: where processes take turns on a
GPU, a lane that had to ask the host after each run would have little to do in its turn.

Streams are made so that they keep the order of the default stream, on which torch makes, copies and
frees tensors: what a lane is given begins after what torch was given before, and the other way
round. Nothing is done on the default stream while lanes are at work.
"""

import time
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gpu_eval.devices.base import DeviceLostError, Job, Outcome
from gpu_eval.devices.cuda_arena import Arena
from gpu_eval.devices.cuda_case import BoundCase, upload
from gpu_eval.devices.cuda_compare import (
    Comparison,
    OutputJob,
    ZoneJob,
    counts_of,
    hash_of,
    statistics_of,
    unwritten_of,
)
from gpu_eval.devices.cuda_kernels import Kernels
from gpu_eval.devices.cuda_places import Place
from gpu_eval.devices.integer_outputs import rejudged
from gpu_eval.problems.plan import ResolvedPlan
from suiteopt.matrix.schema import Count, Statistic, Status

if TYPE_CHECKING:
    from torch import Tensor

POISON_WORD = 0x7FC0DEAD
"""What outputs and unzeroed workspaces hold before a run: a NaN that no kernel computes."""

JUDGE_SECONDS = 60.0

DEPTH = 4
"""Runs that may be queued on a lane."""


class _Turn:
    """What tells of one run that is queued: its events, and why it could not be launched."""

    def __init__(self, driver: Any, place: int) -> None:
        self.place = place
        self.begin, self.end, self.done = driver.Event(), driver.Event(), driver.Event()
        self.refused: str | None = None


class Lane:
    """Runs one plan after the other, all of them queued without waiting for anything.

    Parameters
    ----------
    driver : module
        ``pycuda.driver``, with a current context.
    compare : object
        The loaded module of ``compare.cu``.
    kernels : Kernels
    """

    def __init__(self, driver: Any, compare: Any, kernels: Kernels) -> None:
        self._driver = driver
        self._kernels = kernels
        self._stream = driver.Stream()
        self._arena = Arena(driver, self._stream)
        self._comparison = Comparison(driver, compare, self._stream, DEPTH)
        self._free = deque(_Turn(driver, place) for place in range(DEPTH))
        self._queued: deque[_Turn] = deque()
        self._bound: BoundCase | None = None
        self._fresh = False
        self._uploaded: list[Tensor] = []

    def renew(self) -> None:
        """Have inputs and guard zones written anew before the next run."""
        self._bound = None

    @property
    def place(self) -> Place | None:
        """Where its buffers lie in the ground, if they do."""
        return self._arena.place

    @property
    def sign(self) -> Any:
        """The event that is recorded when all that is queued is done; something must be."""
        return self._queued[-1].done

    def leave(self) -> None:
        """Let go of the place in the ground; what else it holds stays."""
        self._bound = None
        self._arena.free()

    def prepare(self, bound: BoundCase, plan: ResolvedPlan, place: Place | None = None) -> None:
        """Place the buffers of a run and say what is to be compared; no lane may be at work.

        Parameters
        ----------
        bound : BoundCase
        plan : ResolvedPlan
        place : Place, optional
            In the ground; None where there is none.

        Raises
        ------
        UserError, pycuda.driver.MemoryError
            If there is not enough memory.
        """
        again = self._bound is bound
        self._bound = None  # until everything is in its place
        moved = self._arena.lay_out(bound.sizes(plan), place)
        if not moved and not again:
            self._arena.restore_zones()
        if moved or not again:
            self._fresh = False
            self._write_jobs(bound)
        self._bound = bound

    def start(self, job: Job, stale: bool = False) -> None:
        """Queue a run behind whatever is queued, and return.

        Parameters
        ----------
        job : Job
            `prepare` was called with a plan that needs the same buffers.
        stale : bool
            Whether outputs hold the right result beforehand, or the poison.

        Raises
        ------
        DeviceLostError
            If the device is gone already.
        """
        driver, case = self._driver, self._case()
        try:
            self._fill(job.plan)
            for name, tensor in case.reference.items():
                if stale:
                    self._copy(name, tensor)
                else:
                    self._set(name, POISON_WORD)
        except driver.Error as error:
            raise _crash(error) from error
        turn = self._turn()
        try:
            turn.begin.record(self._stream)
            for launch in job.plan.launches:
                self._kernels.launch(
                    job.binary, launch, job.schedule, self._arena.buffers, self._stream
                )
            turn.end.record(self._stream)
        except driver.Error as error:
            # A launch that fails says so itself and leaves the context usable; whether this is
            # such a one shows when the launches before it have ended.
            turn.refused = str(error)
        self._finish(turn)

    def take(self, deadline: float) -> Outcome:
        """Wait for the run that was started first, and judge it.

        Parameters
        ----------
        deadline : float
            Seconds from now on.

        Raises
        ------
        DeviceLostError
            If the run did not end in time, or an error has spoilt the context.
        """
        turn = self._waited(deadline)
        if turn.refused is not None:
            return Outcome(Status.LAUNCH_ERROR, message=turn.refused)
        return self._read(turn, turn.end.time_since(turn.begin) * 1e-3)

    def give(self, outputs: "Mapping[str, Tensor]") -> None:
        """Queue the comparison of given outputs; `prepare` was called with an empty plan."""
        turn = self._turn()
        reference = self._case().reference
        self._fill(ResolvedPlan(()))
        self._uploaded = [upload(outputs[name]) for name in reference]
        for name, tensor in zip(reference, self._uploaded, strict=True):
            self._copy(name, tensor)
        self._finish(turn)

    def judged(self) -> Outcome:
        """Wait for the comparison of given outputs."""
        turn = self._waited(JUDGE_SECONDS)
        self._uploaded.clear()
        return self._read(turn, 0.0)

    def outputs(self) -> "Mapping[str, Tensor]":
        """Copy the outputs of the last run."""
        import torch

        copies: dict[str, Tensor] = {}
        for name, reference in self._case().reference.items():
            copy = torch.empty_like(reference)
            buffer = self._arena.buffers[name]
            self._driver.memcpy_dtod(copy.data_ptr(), buffer.address, buffer.nbytes)
            copies[name] = copy
        return copies

    def free(self) -> None:
        """Give the memory back; a later run takes it again."""
        self._bound = None
        self._comparison.free()
        self._arena.free()

    def _case(self) -> BoundCase:
        if self._bound is None:
            raise RuntimeError("nothing was prepared")
        return self._bound

    def _write_jobs(self, case: BoundCase) -> None:
        buffers = self._arena.buffers
        outputs = [
            OutputJob(
                buffers[name].address,
                reference.data_ptr(),
                case.word_truth[name].data_ptr(),
                reference.numel(),
                POISON_WORD,
            )
            for name, reference in case.words.items()
        ]
        zones = [ZoneJob(zone.address, zone.words, 0, zone.word) for zone in self._arena.zones]
        zones += [
            ZoneJob(buffers[name].address, buffers[name].nbytes // 4, tensor.data_ptr(), 0)
            for name, tensor in case.inputs.items()
        ]
        self._comparison.prepare(outputs, zones)

    def _fill(self, plan: ResolvedPlan) -> None:
        """Queue the content of inputs, where it is not there, and of workspaces."""
        if not self._fresh:
            for name, tensor in self._case().inputs.items():
                self._copy(name, tensor)
            self._fresh = True
        for workspace in plan.workspaces:
            self._set(workspace.name, 0 if workspace.zeroed else POISON_WORD)

    def _turn(self) -> _Turn:
        """Return what will tell of the next run."""
        turn = self._free.popleft()
        turn.refused = None
        self._queued.append(turn)
        return turn

    def _finish(self, turn: _Turn) -> None:
        """Queue the comparison, and the sign that all is done."""
        try:
            if turn.refused is None:
                self._comparison.launch(turn.place)
            turn.done.record(self._stream)
        except self._driver.Error as error:
            raise _crash(error) from error

    def _waited(self, deadline: float) -> _Turn:
        """Wait for the run that was queued first."""
        turn = self._queued[0]
        limit = time.monotonic() + deadline
        try:
            while not turn.done.query():
                if time.monotonic() > limit:
                    message = f"still running after {deadline:.3g} s"
                    raise DeviceLostError(Outcome(Status.TIMEOUT, message=message))
            turn.done.synchronize()
        except self._driver.Error as error:
            raise _crash(error) from error
        self._free.append(self._queued.popleft())
        return turn

    def _read(self, turn: _Turn, seconds: float) -> Outcome:
        case = self._case()
        records, damaged = self._comparison.read(turn.place)
        statistics: dict[Statistic, float] = {}
        for record in records:
            for statistic, value in statistics_of(record).items():
                statistics[statistic] = max(statistics.get(statistic, 0.0), value)
        counts = counts_of(records)
        status, message = Status.OK, ""
        if damaged.any():
            status = Status.OUT_OF_BOUNDS
            message = f"{int(damaged.sum())} words outside the outputs were written"
            self._arena.restore_zones()
            self._fresh = False
        elif unwritten := unwritten_of(records):
            status, message = Status.UNWRITTEN, f"{unwritten} elements were not written"
        elif counts[Count.NAN_ONE] or counts[Count.INF_MISMATCH]:
            status = Status.NONFINITE
        outcome = Outcome(status, statistics, counts, hash_of(records), seconds, message=message)
        return rejudged(outcome, case.case, self.outputs()) if case.integers else outcome

    def _set(self, name: str, word: int) -> None:
        buffer = self._arena.buffers[name]
        if buffer.nbytes:
            self._driver.memset_d32_async(buffer.address, word, buffer.nbytes // 4, self._stream)

    def _copy(self, name: str, tensor: "Tensor") -> None:
        buffer = self._arena.buffers[name]
        if buffer.nbytes:
            self._driver.memcpy_dtod_async(
                buffer.address, tensor.data_ptr(), buffer.nbytes, self._stream
            )


def _crash(error: Exception) -> DeviceLostError:
    return DeviceLostError(Outcome(Status.CRASH, message=str(error)))
