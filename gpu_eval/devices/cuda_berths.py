"""The lanes that there are on a GPU, and where each of them has its memory."""

from collections.abc import Callable, Sequence
from typing import Any

from gpu_eval.devices.cuda_arena import footprint
from gpu_eval.devices.cuda_case import BoundCase
from gpu_eval.devices.cuda_ground import Ground
from gpu_eval.devices.cuda_lane import Lane
from gpu_eval.devices.cuda_places import Place
from gpu_eval.problems.plan import ResolvedPlan
from suiteopt.errors import UserError

MOST_LANES = 8
"""Streams that a GPU serves without one waiting for another, where nobody asks for more. With 32 a
context took several times as long to make and to lose, and others waited for that."""

LANES_BYTES = 6 << 30
"""Memory that the arenas of all lanes take together, where there are several."""


class Berths:
    """Gives lanes their places: in the ground, or allocations where there is none.

    Parameters
    ----------
    driver : module
        ``pycuda.driver``, with a current context.
    another : callable
        Makes a lane.
    ground : Ground, optional
    """

    def __init__(
        self, driver: Any, another: Callable[[], Lane], ground: Ground | None = None
    ) -> None:
        self._driver = driver
        self._another = another
        self.ground = ground
        self.lanes = [another()]

    def fitting(self, bound: BoundCase, plans: Sequence[ResolvedPlan] = ()) -> int:
        """Return how many lanes a case has, and plans on it."""
        if bound.integers:
            # torch judges these, on the default stream, which waits for every lane.
            return 1
        largest = max(footprint(bound.sizes(plan)) for plan in [ResolvedPlan(()), *plans])
        return max(1, min(MOST_LANES, LANES_BYTES // largest))

    def begin(self, bound: BoundCase) -> None:
        """Begin a case: nothing that an earlier one has left counts, its memory is given back."""
        self.renew()
        for lane in self.lanes[self.fitting(bound) :]:
            lane.free()
        if self.ground is not None:
            self.ground.begin(bound.case.key)

    def renew(self) -> None:
        """Have inputs and guard zones of all lanes written anew before they run."""
        for lane in self.lanes:
            lane.renew()

    def ready(self, bound: BoundCase, plans: Sequence[ResolvedPlan]) -> list[Lane]:
        """Prepare a lane for each of some plans; fewer where memory ends before."""
        places = self._places(bound, plans)
        ready: list[Lane] = []
        for number, plan in enumerate(plans):
            if len(self.lanes) <= number:
                self.lanes.append(self._another())
            try:
                self.lanes[number].prepare(bound, plan, places[number] if places else None)
            except (UserError, self._driver.MemoryError):
                if ready:
                    self.lanes[number].leave()
                    break
                if not self.spare():
                    raise
                return self.ready(bound, plans)
            ready.append(self.lanes[number])
        if self.ground is not None and len(ready) < len(plans):
            self.ground.hold(places[: len(ready)])
        return ready

    def _places(self, bound: BoundCase, plans: Sequence[ResolvedPlan]) -> Sequence[Place]:
        """Return the places of so many lanes in the ground, and let them have no others.

        They do not depend on how many of the lanes run. Nothing is returned where there is no
        ground, or too little: then it is given up.
        """
        if self.ground is None or not plans:
            return ()
        lanes = max(self.fitting(bound, plans[:1]), len(plans))
        places = self.ground.places(lanes, footprint(bound.sizes(plans[0])))[: len(plans)]
        if not places:
            self.spare()
            return ()
        for number, lane in enumerate(self.lanes):
            if number >= len(places) or lane.place != places[number]:
                lane.leave()
        self.ground.hold(places)
        return places

    def spare(self) -> bool:
        """Give the ground up, and what lies in it; tell whether there was one."""
        if self.ground is None:
            return False
        for lane in self.lanes:
            lane.free()
        self.ground.free()
        self.ground = None
        return True

    def free(self) -> None:
        """Give all memory back."""
        for lane in self.lanes:
            lane.free()
        self.spare()
