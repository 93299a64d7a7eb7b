"""Cells that run by themselves: an implementation on the bound input, as often as it has to."""

from collections.abc import Callable, Mapping
from typing import Any

from gpu_eval.campaign.block_run import BlockRun
from gpu_eval.campaign.callables import Callables, is_callable
from gpu_eval.campaign.cases import Prepared
from gpu_eval.campaign.company import Cell
from gpu_eval.campaign.held_session import HeldSession
from gpu_eval.campaign.phases import Phase
from gpu_eval.campaign.tasks import Subject
from gpu_eval.devices.base import Job, Outcome
from gpu_eval.problems.definition import Problem
from gpu_eval.problems.plan import LaunchPlan, ResolvedPlan
from gpu_eval.problems.tensors import dimensions
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Status


class SingleCells:
    """Runs cells of one task, each by itself.

    Parameters
    ----------
    run : BlockRun
    problem : Problem
    schedules : int
        How many the device knows.
    held : HeldSession
    callables : Callables
    """

    def __init__(
        self,
        run: BlockRun,
        problem: Problem,
        schedules: int,
        held: HeldSession,
        callables: Callables,
    ) -> None:
        self._run = run
        self._problem = problem
        self._schedules = schedules
        self._held = held
        self._callables = callables
        self._plans: dict[tuple[int, str], ResolvedPlan] = {}

    def outcomes(self, row: int, column: int, prepared: Prepared, deadline: float) -> list[Outcome]:
        """Run a cell.

        Raises
        ------
        DeviceLostError
            If it took the device with it.
        """
        subject = self._run.task.subjects[row]
        if is_callable(subject):
            with self._run.phases(Phase.CONTROLS):
                return [self._held.guarded(prepared.case, lambda: self._judge(subject, prepared))]
        cell = self.ready(row, column)
        if isinstance(cell, Outcome):
            return [cell]
        self.finish(cell, prepared, deadline)
        return cell.outcomes

    def ready(self, row: int, column: int) -> Cell | Outcome:
        """Return a cell that is ready to run, or its outcome where its launches have no sizes."""
        task = self._run.task
        subject = task.subjects[row]
        assert subject.plan is not None
        try:
            plan = self._resolve(subject.plan, task.inputs[column].shape)
        except UserError as error:
            # A wrapper whose launch arithmetic fails throws before it comes to a kernel.
            return Outcome(Status.LAUNCH_ERROR, message=str(error))
        return Cell(row, subject, plan, self._run.repeats(row, column))

    def finish(self, cell: Cell, prepared: Prepared, deadline: float) -> None:
        """Run a cell by itself as often as it has to run."""
        while not cell.done:
            job = cell.job(self._schedules, deadline)
            with self._run.phases(Phase.KERNELS):
                cell.outcomes.append(self._held.guarded(prepared.case, self._launch(job)))

    def _launch(self, job: Job) -> Callable[[], Outcome]:
        return lambda: self._held.open().run(
            job.binary, job.plan, schedule=job.schedule, deadline=job.deadline
        )

    def _judge(self, subject: Subject, prepared: Prepared) -> Outcome:
        """Run a torch control or a null mutant and compare what it gives."""
        return self._held.open().judge(self._callables.outputs(subject, prepared.case))

    def _resolve(self, plan: LaunchPlan, shape: Mapping[str, int]) -> ResolvedPlan:
        key = (id(plan), repr(sorted(shape.items())))
        if key not in self._plans:
            sizes: dict[str, Any] = dimensions(self._problem, shape)
            self._plans[key] = plan.resolve(sizes, self._problem.scalars)
        return self._plans[key]
