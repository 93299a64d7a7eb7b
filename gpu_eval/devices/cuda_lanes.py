"""The lanes of a GPU at work together: short grids of different mutants run at the same time."""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gpu_eval.devices.base import DeviceLostError, Job, Outcome, blamed
from gpu_eval.devices.cuda_berths import Berths
from gpu_eval.devices.cuda_case import BoundCase
from gpu_eval.devices.cuda_ground import Ground
from gpu_eval.devices.cuda_kernels import Kernels, refusal
from gpu_eval.devices.cuda_lane import DEPTH, Lane
from gpu_eval.devices.cuda_outcomes import accused, alike, is_unwritten, merged
from gpu_eval.problems.plan import ResolvedPlan
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Status

if TYPE_CHECKING:
    from torch import Tensor


class Lanes:
    """Runs jobs on a case, several at a time where memory allows.

    Parameters
    ----------
    driver : module
        ``pycuda.driver``, with a current context.
    compare : object
        The loaded module of ``compare.cu``.
    kernels : Kernels
    ground : Ground, optional
        Where arenas lie, as long as there is room for them; without one each is an allocation.
    """

    def __init__(
        self, driver: Any, compare: Any, kernels: Kernels, ground: Ground | None = None
    ) -> None:
        self._driver = driver
        self._kernels = kernels
        self._berths = Berths(driver, lambda: Lane(driver, compare, kernels), ground)
        self._last = self._berths.lanes[0]
        self._shared = False
        self._strayed = False
        self._overwritten: tuple[BoundCase, Job] | None = None

    def fitting(self, bound: BoundCase, jobs: Sequence[Job] = ()) -> int:
        """Return how many lanes a case has, and the plans of jobs on it."""
        return self._berths.fitting(bound, [job.plan for job in jobs if not refusal(job.plan)])

    def begin(self, bound: BoundCase) -> None:
        """Begin a case: nothing that an earlier one has left counts, its memory is given back."""
        self._berths.begin(bound)
        self._shared = False
        self._overwritten = None

    def run(self, bound: BoundCase, jobs: Sequence[Job]) -> list[Outcome]:
        """Run jobs; see `gpu_eval.devices.base.Session.run_many`."""
        try:
            self._strayed = False
            outcomes = self._grouped(bound, jobs)
            stray = self._strayed or any(o.status is Status.OUT_OF_BOUNDS for o in outcomes)
            if len(jobs) > 1 and stray:
                # What one wrote may lie in a neighbour's buffers: each by itself.
                outcomes = [self._alone(bound, job) for job in jobs]
        except DeviceLostError as lost:
            raise blamed(lost, jobs) from lost
        return outcomes

    def judge(self, bound: BoundCase, several: "Sequence[Mapping[str, Tensor]]") -> list[Outcome]:
        """Compare given outputs with a case, several at a time where memory allows."""
        if self._shared:
            self._berths.renew()
        self._overwritten = None
        most = min(self.fitting(bound), len(several))
        lanes = self._berths.ready(bound, [ResolvedPlan(())] * most)
        outcomes: list[Outcome] = []
        while len(outcomes) < len(several):
            group = list(zip(lanes, several[len(outcomes) :], strict=False))
            for lane, outputs in group:
                lane.give(outputs)
                self._last = lane
            outcomes += [lane.judged() for lane, _ in group]
        return outcomes

    def outputs(self) -> "Mapping[str, Tensor]":
        """Copy the outputs of the last job; it runs again where others have run after it."""
        if self._overwritten is not None:
            bound, job = self._overwritten
            self._flow(bound, [job], 1)
        return self._last.outputs()

    def trespassed(self, whole: bool = False) -> bool:
        """Tell whether words of the ground have changed, and mend it; no lane may be at work."""
        try:
            return self._ground is not None and self._ground.look(whole) > 0
        except self._driver.Error as error:
            raise DeviceLostError(Outcome(Status.CRASH, message=str(error))) from error

    def spare(self) -> bool:
        """Give the ground up, and what lies in it; tell whether there was one."""
        return self._berths.spare()

    def free(self) -> None:
        """Give all memory back."""
        self._berths.free()

    @property
    def _ground(self) -> Ground | None:
        return self._berths.ground

    def _grouped(self, bound: BoundCase, jobs: Sequence[Job]) -> list[Outcome]:
        """Run jobs, as many at a time as there is room for."""
        if len(jobs) == 1:
            return [self._alone(bound, jobs[0])]
        outcomes: list[Outcome] = []
        while len(outcomes) < len(jobs):
            group = alike(bound, jobs[len(outcomes) :])
            outcomes += self._flow(bound, group, self.fitting(bound, group))
        return outcomes

    def _alone(self, bound: BoundCase, job: Job) -> Outcome:
        """Run a job by itself, and answer for what it is said to have written outside.

        All places but the first lane's are ground meanwhile.
        """
        (outcome,) = self._flow(bound, [job], 1)
        if outcome.status is Status.OUT_OF_BOUNDS and self._shared:
            # A neighbour may have done that, after this lane had been looked at; now it is clean.
            self._shared = False
            (outcome,) = self._flow(bound, [job], 1)
        self._shared = self._shared and not outcome.statistics
        return outcome

    def _flow(self, bound: BoundCase, jobs: Sequence[Job], most: int) -> list[Outcome]:
        """Run jobs that need the same buffers; once more over the stale result what left some."""
        try:
            outcomes = {place: self._loaded(job) for place, job in enumerate(jobs)}
            waiting = [place for place, outcome in outcomes.items() if outcome is None]
            lanes = self._berths.ready(bound, [jobs[place].plan for place in waiting[:most]])
        except self._driver.MemoryError as error:
            raise UserError(
                "the GPU has no room for an input and what runs on it; give --jobs a smaller number"
            ) from error
        self._shared = self._shared or len(lanes) > 1
        # From here on nothing may wait for the device as a whole: one of them may hang.
        depth = 1 if bound.integers else DEPTH
        outcomes |= self._queued(lanes, depth, jobs, waiting, stale=False)
        unwritten = [place for place in waiting if is_unwritten(outcomes[place])]
        again = self._queued(lanes, depth, jobs, unwritten, stale=True)
        for place, stale in again.items():
            outcomes[place] = merged(outcomes[place], stale)
        moved = bool(unwritten) and unwritten[-1] != waiting[-1]
        self._overwritten = (bound, jobs[waiting[-1]]) if moved else None
        return [outcome for outcome in outcomes.values() if outcome is not None]

    def _queued(
        self,
        lanes: Sequence[Lane],
        depth: int,
        jobs: Sequence[Job],
        places: Sequence[int],
        stale: bool,
    ) -> dict[int, Outcome]:
        """Run some of the jobs, so many of them queued on each lane; return their outcomes.

        One that was started after others may have had to wait for them: it has its whole deadline
        from when they were through. Behind all of them the ground is looked at. What is seen there
        is the job's, if there is one; else nobody's yet.
        """
        found: dict[int, Outcome] = {}
        started: deque[tuple[int, Lane]] = deque()
        for turn, place in enumerate(places):
            if len(started) == depth * len(lanes):
                first, lane = started.popleft()
                found[first] = lane.take(jobs[first].deadline)
            self._last = lanes[turn % len(lanes)]
            self._last.start(jobs[place], stale)
            started.append((place, self._last))
        words = 0
        try:
            if self._ground is not None and started:
                # Queued before anything is waited for: processes take turns on a GPU.
                self._ground.follow([lane.sign for lane in {lane for _, lane in started}])
            found |= {place: lane.take(jobs[place].deadline) for place, lane in started}
            if self._ground is not None:
                words = self._ground.read()
        except self._driver.Error as error:
            raise DeviceLostError(Outcome(Status.CRASH, message=str(error))) from error
        if words and len(jobs) == 1:
            return {place: accused(outcome, words) for place, outcome in found.items()}
        self._strayed = self._strayed or words > 0
        return found

    def _loaded(self, job: Job) -> Outcome | None:
        """Have a job's kernels on the device; return its outcome where they cannot be launched."""
        reason = refusal(job.plan)
        if reason:
            return Outcome(Status.LAUNCH_ERROR, message=reason)
        try:
            self._kernels.load(job.binary, job.plan)
        except self._driver.MemoryError:
            raise  # says nothing about the job
        except self._driver.Error as error:
            message = str(error)
            if self._is_dead():
                raise DeviceLostError(Outcome(Status.CRASH, message=message)) from error
            return Outcome(Status.LAUNCH_ERROR, message=message)
        return None

    def _is_dead(self) -> bool:
        try:
            self._driver.Context.synchronize()
        except self._driver.Error:
            return True
        return False
