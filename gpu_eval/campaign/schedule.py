"""Which task comes next: a problem's compile tasks, its base task, then its blocks.

Problems overlap: while the last unit of one compiles, the other workers go on with the next.
"""

import bisect
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gpu_eval.campaign import results
from gpu_eval.campaign.chunks import compile_chunks, in_blocks
from gpu_eval.campaign.equivalence import classify
from gpu_eval.campaign.estimate import planned_seconds
from gpu_eval.campaign.implementations import Implementation
from gpu_eval.campaign.journal import Journal
from gpu_eval.campaign.plan import CampaignPlan
from gpu_eval.campaign.problem_state import ProblemState, subject_of
from gpu_eval.campaign.settings import Settings
from gpu_eval.campaign.tasks import (
    CellTask,
    CompileTask,
    InputFacts,
    Subject,
    Task,
    content_key,
)
from gpu_eval.devices.base import Binary, KernelSource
from gpu_eval.problems.plan import LaunchPlan, ResolvedPlan, render
from gpu_eval.problems.tensors import dimensions
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Kind

AHEAD = 2
"""So many problems for each worker are begun before the first one's blocks come."""

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
        self._common = {
            "device": device,
            "corpus": plan.corpus_hash,
            "pool": plan.pool_hash,
            "witness": plan.witness_hash,
            "floor": settings.deadline_floor,
        }
        self.states = {p.id: ProblemState(p) for p in plan.problems}
        self._ready: list[Task] = []
        # What takes longest comes first, so that it is not what everybody waits for at the end.
        longest = sorted(plan.problems, key=lambda p: -planned_seconds(p))
        self._ranks = {problem.id: rank for rank, problem in enumerate(longest)}
        self._open = 0
        self._ahead = AHEAD * max(settings.jobs, 1)
        self.done_cells = 0
        self.restored_cells = 0
        for state in self.states.values():
            self._start(state)

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do or being done."""
        return not self._ready and not self._open

    @property
    def cells(self) -> int:
        """Cells of the whole campaign, as far as is known."""
        return sum(state.cells for state in self.states.values())

    def next(self, kinds: tuple[type[Task], ...] = (CompileTask, CellTask)) -> Task | None:
        """Return a task of these kinds to run, or None if all that is ready has been handed out.

        Tasks whose results are there and undamaged are taken in without being run.
        """
        while True:
            places = (place for place, t in enumerate(self._ready) if isinstance(t, kinds))
            place = next(places, None)
            if place is None:
                return None
            task = self._ready.pop(place)
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
        for subject in task.subjects:
            self._add_block(state, (subject,), fresh=True)

    def _with_verdicts(self, task: Task) -> Task:
        if isinstance(task, CompileTask):
            return task
        return replace(task, verdicts=self._journal.verdicts(task.key))

    def _start(self, state: ProblemState) -> None:
        chunks = compile_chunks(state.plan.implementations)
        for number, chunk in enumerate(chunks):
            task = CompileTask(
                self._key("compile", sources=[_describe(s) for s in chunk]),
                state.plan.id,
                tuple(chunk),
            )
            if number == 0:
                state.originals = task.key
            state.compiling += 1
            self._insert(task)

    def _plan_base(self, state: ProblemState) -> None:
        originals = [i for i in state.plan.implementations if i.kind not in JUDGED]
        _must_compile(originals, state.binaries)
        subjects = tuple(subject_of(i, state.binaries) for i in originals)
        state.base = self._cell_task(state, subjects, None)
        state.unfinished += 1
        self._insert(state.base)

    def _plan_blocks(self, state: ProblemState) -> None:
        problem = state.plan.problem

        def resolve(plan: LaunchPlan, shape: Mapping[str, int]) -> ResolvedPlan:
            return plan.resolve(dimensions(problem, shape), problem.scalars)

        shapes = state.plan.shapes
        if self._settings.suite:
            # A replay has few shapes, on which different mutants may look alike; it must run
            # whatever its matrix ran. Plans that are equal as written are equal on every shape.
            found = classify(
                state.plan.implementations, state.binaries, [{}], lambda plan, shape: plan
            )
        else:
            found = classify(state.plan.implementations, state.binaries, shapes, resolve)
        state.classified = found
        _must_compile(
            [i for i in state.plan.implementations if i.kind == Kind.WILD], state.binaries
        )
        # Mutants and wild kernels together: each block makes all inputs once more.
        subjects = [
            subject_of(c.implementation, state.binaries)
            for c in state.classified
            if c.runs and c.implementation.kind in JUDGED
        ]
        for some in in_blocks(subjects, self._settings.block):
            self._add_block(state, tuple(some))

    def _add_block(
        self, state: ProblemState, subjects: tuple[Subject, ...], fresh: bool = False
    ) -> None:
        task = replace(self._cell_task(state, subjects, state.facts), fresh=fresh)
        state.blocks.append(task)
        state.unfinished += 1
        self._insert(task)

    def _insert(self, task: Task) -> None:
        """Put a task where it belongs: base tasks before the blocks that wait for them."""
        bisect.insort(self._ready, task, key=self._rank)

    def _rank(self, task: Task) -> tuple[int, int]:
        """Problem by problem; what a problem's blocks wait for comes some problems ahead of them.

        So there are blocks to run beside base tasks, whose controls mostly keep one
        multiprocessor busy, and a campaign that is stopped has whole problems to show.
        """
        state, rank = self.states[task.problem], self._ranks[task.problem]
        if isinstance(task, CompileTask):
            ahead = self._ahead if task.key == state.originals else 0
        else:
            ahead = self._ahead if task.facts is None else 0
        return (rank - ahead, rank)

    def _cell_task(
        self,
        state: ProblemState,
        subjects: tuple[Subject, ...],
        facts: dict[str, InputFacts] | None,
    ) -> CellTask:
        plan = state.plan
        key = self._key(
            "base" if facts is None else "block",
            inputs=[i.id for i in plan.order],
            repeated=sorted(plan.repeated),
            subjects=[
                (s.id, s.binary and s.binary.machine_code, s.plan and render(s.plan))
                for s in subjects
            ],
            problem=plan.id,
        )
        return CellTask(
            key=key,
            problem=plan.id,
            inputs=plan.order,
            repeated=plan.repeated,
            subjects=subjects,
            facts=facts,
            own=plan.own,
            deadline_floor=self._settings.deadline_floor,
            lanes=self._settings.lanes,
        )

    def _key(self, prefix: str, **content: object) -> str:
        return content_key(prefix, {**self._common, **content})


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


def _describe(source: KernelSource) -> str:
    return json.dumps(
        [source.id, dict(source.files), source.main, source.kernels, source.flags], sort_keys=True
    )
