"""Which task comes next: a problem's compile tasks, its base task, then its blocks.

Problems overlap: while the last unit of one compiles, the other workers go on with the next.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gpu_eval.campaign import results
from gpu_eval.campaign.chunks import in_blocks
from gpu_eval.campaign.equivalence import Classified, classify
from gpu_eval.campaign.implementations import Implementation
from gpu_eval.campaign.journal import Journal
from gpu_eval.campaign.plan import CampaignPlan, ProblemPlan
from gpu_eval.campaign.problem_state import ProblemState, cell_tasks, subject_of
from gpu_eval.campaign.settings import Settings
from gpu_eval.campaign.task_making import TaskMaker
from gpu_eval.campaign.task_queue import TaskQueue
from gpu_eval.campaign.tasks import CellTask, CompileTask, Task
from gpu_eval.devices.base import Binary
from gpu_eval.problems.plan import LaunchPlan, ResolvedPlan
from gpu_eval.problems.tensors import dimensions
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Kind

JUDGED = (Kind.MUTANT, Kind.WILD)
"""Kinds that run in blocks, by the facts of the base task, which they have no part in."""


class Schedule:
    """Hands out tasks and takes in their results, until every problem is done.

    Parameters
    ----------
    plan : CampaignPlan
    settings : Settings
    journal : Journal
    shards : Path
        Where result files lie.
    device : str
        A text that says which device and options: part of every key.
    """

    def __init__(
        self, plan: CampaignPlan, settings: Settings, journal: Journal, shards: Path, device: str
    ) -> None:
        self._settings = settings
        self._journal = journal
        self._shards = shards
        self._make = TaskMaker(plan, settings, device)
        self._queue = TaskQueue(plan.problems, settings.jobs)
        self.states = {p.id: ProblemState(p) for p in plan.problems}
        self._open = 0
        self.done_cells = 0
        self.restored_cells = 0
        for state in self.states.values():
            self._start(state)

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do or being done."""
        return self._queue.empty and not self._open

    @property
    def cells(self) -> int:
        """Cells of the whole campaign, as far as is known."""
        return sum(state.cells for state in self.states.values())

    def next(self, kinds: tuple[type[Task], ...] = (CompileTask, CellTask)) -> Task | None:
        """Return a task of these kinds to run, or None if all that is ready has been handed out.

        Tasks whose results are there and undamaged are taken in without being run.
        """
        while True:
            task = self._queue.take(kinds)
            if task is None:
                return None
            self._open += 1
            if isinstance(task, CellTask) and self._journal.is_shattered(task.key):
                self.shatter(task)
            elif not self._restored(task):
                return self._with_verdicts(task)

    def _restored(self, task: Task) -> bool:
        """Take in what an earlier sitting found, if it is there and undamaged."""
        before = self.done_cells
        if not (self._journal.intact(task.key) and self.complete(task)):
            return False
        self.restored_cells += self.done_cells - before
        return True

    def again(self, task: Task) -> Task:
        """Return a task that has to be run once more, with what is known of it now."""
        return self._with_verdicts(task)

    def complete(self, task: Task) -> bool:
        """Take in the result of a task; False if it is damaged after all."""
        state = self.states[task.problem]
        if isinstance(task, CompileTask):
            binaries = results.read_binaries(self._shards, task)
            if binaries is None:
                return False
            state.binaries.update((binary.id, binary) for binary in binaries)
            state.compiling -= 1
            if task.key == state.originals:
                self._plan_base(state)
        else:
            if task.facts is None:
                state.facts = results.read_facts(self._shards, task)
            self.done_cells += task.cells
            state.unfinished -= 1
        self._open -= 1
        if not state.compiling and state.facts is not None and not state.classified:
            self._plan_blocks(state)
        return True

    def shatter(self, task: CellTask) -> None:
        """Replace a task that keeps killing workers by one task an implementation.

        Each of them runs in a worker of its own, so that memory which one mutant corrupted
        cannot take down another.
        """
        state = self.states[task.problem]
        if task in state.blocks:
            state.blocks.remove(task)
        elif any(task.key == block.key for block in state.blocks):
            state.blocks = [block for block in state.blocks if block.key != task.key]
        self._open -= 1
        state.unfinished -= 1
        for alone in self._alone(state, task):
            self._add_block(state, alone)

    def _alone(self, state: ProblemState, task: CellTask) -> list[CellTask]:
        """Return the tasks that a shattered one is replaced by."""
        return [
            self._make.cells(state.plan, (subject,), state.facts, fresh=True)
            for subject in task.subjects
        ]

    def _with_verdicts(self, task: Task) -> Task:
        if isinstance(task, CompileTask):
            return task
        return replace(task, verdicts=self._journal.verdicts(task.key))

    def _start(self, state: ProblemState) -> None:
        whole = self._whole(state.plan)
        if whole is not None:
            self.states[state.plan.id] = whole
            cells = sum(task.cells for task in cell_tasks(whole))
            self.done_cells += cells
            self.restored_cells += cells
            return
        for number, task in enumerate(self._make.compiles(state.plan)):
            if number == 0:
                state.originals = task.key
            state.compiling += 1
            self._queue.add(task, leads=number == 0)

    def _whole(self, plan: ProblemPlan) -> ProblemState | None:
        """Return a problem of which every cell is there; None of any other.

        Its kernels need not be there any more: a campaign that goes on elsewhere compiles what it
        still has to run.
        """
        compiles = self._make.compiles(plan)
        if not all(self._journal.intact(task.key) for task in compiles):
            return None
        state = ProblemState(plan)
        for task in compiles:
            noted = results.noted_binaries(self._shards, task)
            state.binaries.update((binary.id, binary) for binary in noted)
        state.base = self._base_task(state)
        if not self._journal.intact(state.base.key):
            return None
        state.facts = results.read_facts(self._shards, state.base)
        state.classified = self._classify(state)
        for block in self._block_tasks(state):
            shattered = self._journal.is_shattered(block.key)
            state.blocks += self._alone(state, block) if shattered else [block]
        return state if all(self._journal.intact(task.key) for task in state.blocks) else None

    def _base_task(self, state: ProblemState) -> CellTask:
        originals = [i for i in state.plan.implementations if i.kind not in JUDGED]
        _must_compile(originals, state.binaries)
        subjects = tuple(subject_of(i, state.binaries) for i in originals)
        return self._make.cells(state.plan, subjects, None)

    def _plan_base(self, state: ProblemState) -> None:
        state.base = self._base_task(state)
        state.unfinished += 1
        self._queue.add(state.base, leads=True)

    def _plan_blocks(self, state: ProblemState) -> None:
        state.classified = self._classify(state)
        for task in self._block_tasks(state):
            self._add_block(state, task)

    def _classify(self, state: ProblemState) -> tuple[Classified, ...]:
        problem = state.plan.problem

        def resolve(plan: LaunchPlan, shape: Mapping[str, int]) -> ResolvedPlan:
            return plan.resolve(dimensions(problem, shape), problem.scalars)

        shapes = state.plan.shapes
        if self._settings.suite:
            # A replay has few shapes, on which different mutants may look alike; it must run
            # whatever its matrix ran. Plans that are equal as written are equal on every shape.
            return classify(
                state.plan.implementations, state.binaries, [{}], lambda plan, shape: plan
            )
        return classify(state.plan.implementations, state.binaries, shapes, resolve)

    def _block_tasks(self, state: ProblemState) -> list[CellTask]:
        wild = [i for i in state.plan.implementations if i.kind == Kind.WILD]
        _must_compile(wild, state.binaries)
        # Mutants and wild kernels together: each block makes all inputs once more.
        subjects = [
            subject_of(c.implementation, state.binaries)
            for c in state.classified
            if c.runs and c.implementation.kind in JUDGED
        ]
        blocks = in_blocks(subjects, self._settings.block)
        return [self._make.cells(state.plan, tuple(some), state.facts) for some in blocks]

    def _add_block(self, state: ProblemState, task: CellTask) -> None:
        state.blocks.append(task)
        state.unfinished += 1
        self._queue.add(task, leads=task.facts is None)


def _must_compile(
    implementations: Sequence[Implementation], binaries: Mapping[str, Binary]
) -> None:
    """Refuse a hand-written implementation that does not compile."""
    for implementation in implementations:
        source = implementation.source
        if source is not None and binaries[source.id].path is None:
            raise UserError(
                f"{implementation.kind} {implementation.id} does not compile: "
                f"{binaries[source.id].error}; correct {source.main} and start again"
            )
