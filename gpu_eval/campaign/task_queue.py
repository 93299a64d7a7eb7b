"""Tasks that can be run now, in the order in which they come."""

import bisect
from collections.abc import Sequence

from gpu_eval.campaign.estimate import planned_seconds
from gpu_eval.campaign.plan import ProblemPlan
from gpu_eval.campaign.tasks import Task

AHEAD = 2
"""So many problems for each worker are begun before the first one's blocks come."""


class TaskQueue:
    """Keeps ready tasks problem by problem; what a problem's blocks wait for comes ahead of them.

    So there are blocks to run beside base tasks, whose controls mostly keep one multiprocessor
    busy, and a campaign that is stopped has whole problems to show.

    Parameters
    ----------
    problems : sequence of ProblemPlan
    workers : int
    """

    def __init__(self, problems: Sequence[ProblemPlan], workers: int) -> None:
        # What takes longest comes first, so that it is not what everybody waits for at the end.
        longest = sorted(problems, key=lambda p: -planned_seconds(p))
        self._ranks = {problem.id: rank for rank, problem in enumerate(longest)}
        self._ahead = AHEAD * max(workers, 1)
        self._ready: list[tuple[tuple[int, int], Task]] = []

    @property
    def empty(self) -> bool:
        """Whether no task is ready."""
        return not self._ready

    def add(self, task: Task, *, leads: bool) -> None:
        """Put a task where it belongs.

        Parameters
        ----------
        task : Task
        leads : bool
            Whether its problem's blocks wait for it: then it comes some problems ahead of them.
        """
        rank = self._ranks[task.problem]
        place = (rank - self._ahead if leads else rank, rank)
        bisect.insort(self._ready, (place, task), key=lambda entry: entry[0])

    def take(self, kinds: tuple[type[Task], ...]) -> Task | None:
        """Return the first task of these kinds, which is ready no longer; None if there is none."""
        for index, (_, task) in enumerate(self._ready):
            if isinstance(task, kinds):
                del self._ready[index]
                return task
        return None
