"""The lanes of a GPU at work together: short grids of different mutants run at the same time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gpu_eval.devices.base import DeviceLostError, Job, Outcome, blamed
from gpu_eval.devices.cuda_arena import footprint
from gpu_eval.devices.cuda_case import BoundCase
from gpu_eval.devices.cuda_kernels import Kernels, refusal
from gpu_eval.devices.cuda_lane import Lane
from gpu_eval.problems.plan import ResolvedPlan
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Status

if TYPE_CHECKING:
    from torch import Tensor

MOST_LANES = 8
"""Streams that a GPU serves without one waiting for another, where nobody asks for more."""

LANES_BYTES = 4 << 30
"""Memory that the arenas of all lanes take together, where there are several."""


@dataclass(frozen=True)
class _Started:
    """A job under way in a lane, or the outcome that it has without one."""

    place: int
    job: Job
    lane: Lane | None
    outcome: Outcome | None = None


class Lanes:
    """Runs jobs on a case, several at a time where memory allows.

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
        self._compare = compare
        self._kernels = kernels
        self._lanes = [Lane(driver, compare, kernels)]
        self._last = self._lanes[0]
        self._shared = False

    def fitting(self, bound: BoundCase, jobs: Sequence[Job] = ()) -> int:
        """Return how many lanes a case has, and the plans of jobs on it."""
        if bound.integers:
            # torch judges these, on the default stream, which waits for every lane.
            return 1
        plans = [ResolvedPlan(()), *(job.plan for job in jobs if not refusal(job.plan))]
        largest = max(footprint(bound.sizes(plan)) for plan in plans)
        return max(1, min(MOST_LANES, LANES_BYTES // largest))

    def begin(self, bound: BoundCase) -> None:
        """Begin a case: nothing that an earlier one has left counts, its memory is given back."""
        for lane in self._lanes:
            lane.renew()
        for lane in self._lanes[self.fitting(bound) :]:
            lane.free()
        self._shared = False

    def run(self, bound: BoundCase, jobs: Sequence[Job]) -> list[Outcome]:
        """Run jobs; see `gpu_eval.devices.base.Session.run_many`."""
        try:
            outcomes = self._grouped(bound, jobs)
            if len(jobs) > 1 and Status.OUT_OF_BOUNDS in {o.status for o in outcomes}:
                # What one wrote may lie in a neighbour's buffers: each by itself.
                outcomes = [self._alone(bound, job) for job in jobs]
        except DeviceLostError as lost:
            raise blamed(lost, jobs) from lost
        return outcomes

    def judge(self, bound: BoundCase, outputs: "Mapping[str, Tensor]") -> Outcome:
        """Compare given outputs with a case."""
        lane = self._lanes[0]
        if self._shared:
            lane.renew()
        self._last = lane
        return lane.judge(bound, outputs)

    def outputs(self) -> "Mapping[str, Tensor]":
        """Copy the outputs of the last job."""
        return self._last.outputs()

    def free(self) -> None:
        """Give all memory back."""
        for lane in self._lanes:
            lane.free()

    def _grouped(self, bound: BoundCase, jobs: Sequence[Job]) -> list[Outcome]:
        """Run jobs, as many at a time as there is room for."""
        if len(jobs) == 1:
            return [self._alone(bound, jobs[0])]
        most = self.fitting(bound, jobs)
        outcomes: list[Outcome] = []
        while len(outcomes) < len(jobs):
            outcomes += self._together(bound, jobs[len(outcomes) :][:most])
        return outcomes

    def _alone(self, bound: BoundCase, job: Job) -> Outcome:
        """Run a job by itself, and answer for what it is said to have written outside."""
        (outcome,) = self._together(bound, [job])
        if outcome.status is Status.OUT_OF_BOUNDS and self._shared:
            # A neighbour may have done that, after this lane had been looked at; now it is clean.
            self._shared = False
            (outcome,) = self._together(bound, [job])
        self._shared = self._shared and not outcome.statistics
        return outcome

    def _together(self, bound: BoundCase, jobs: Sequence[Job]) -> list[Outcome]:
        """Run jobs at the same time; only the first ones where memory ends before the lanes."""
        ready: list[_Started] = []
        for place, job in enumerate(jobs):
            try:
                ready.append(self._prepared(bound, place, job))
            except (UserError, self._driver.MemoryError) as error:
                if ready:
                    break
                if isinstance(error, UserError):
                    raise
                raise UserError(
                    "the GPU has no room for an input and what runs on it; "
                    "give --jobs a smaller number"
                ) from error
        self._shared = self._shared or len(ready) > 1
        # From here on nothing may wait for the device as a whole: one of them may hang.
        for one in ready:
            if one.lane is not None:
                one.lane.start(one.job)
                self._last = one.lane
        outcomes, again = [], []
        for one in ready:
            outcome = one.outcome or self._taken(one)
            outcomes.append(outcome)
            if outcome.status is Status.UNWRITTEN and one.lane is not None:
                one.lane.start(one.job, stale=True)
                again.append(one)
        for one in again:
            outcomes[one.place] = _merged(outcomes[one.place], self._taken(one))
        return outcomes

    def _prepared(self, bound: BoundCase, place: int, job: Job) -> _Started:
        """Do all that a job needs and that may take the whole device."""
        reason = refusal(job.plan)
        if reason:
            return _Started(place, job, None, Outcome(Status.LAUNCH_ERROR, message=reason))
        while len(self._lanes) <= place:
            self._lanes.append(Lane(self._driver, self._compare, self._kernels))
        self._lanes[place].prepare(bound, job.plan)
        try:
            self._kernels.load(job.binary, job.plan)
        except self._driver.MemoryError:
            raise  # says nothing about the job
        except self._driver.Error as error:
            outcome = Outcome(Status.LAUNCH_ERROR, message=str(error))
            if self._is_dead():
                lost = replace(outcome, status=Status.CRASH)
                raise DeviceLostError(lost) from error
            return _Started(place, job, None, outcome)
        return _Started(place, job, self._lanes[place])

    def _taken(self, one: _Started) -> Outcome:
        # One that was started after others may have had to wait for them: it has its whole
        # deadline from when they were through.
        assert one.lane is not None
        return one.lane.take(one.job.deadline)

    def _is_dead(self) -> bool:
        try:
            self._driver.Context.synchronize()
        except self._driver.Error:
            return True
        return False


def _merged(first: Outcome, stale: Outcome) -> Outcome:
    """Return the outcome of a run that left elements unwritten, judged over the stale result."""
    if not stale.statistics:
        return stale
    return Outcome(
        Status.UNWRITTEN,
        stale.statistics,
        stale.counts,
        first.output_hash,
        first.seconds,
        message=first.message,
    )
