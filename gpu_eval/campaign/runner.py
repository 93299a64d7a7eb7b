"""Runs a block of implementations on a problem's inputs, inside a worker."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gpu_eval.campaign import base_facts
from gpu_eval.campaign.beacon import Beacon
from gpu_eval.campaign.callables import Callables, in_company, is_callable
from gpu_eval.campaign.cases import CaseFactory, InvalidInputError, Prepared, case_key
from gpu_eval.campaign.cells import disagree
from gpu_eval.campaign.checkpoint import Progress, load, save
from gpu_eval.campaign.closing import FatalRecord, far_off
from gpu_eval.campaign.company import Cell, lanes_wanted, mixes
from gpu_eval.campaign.integrity import Integrity
from gpu_eval.campaign.phases import Phase, Phases
from gpu_eval.campaign.pool_input import PoolInput
from gpu_eval.campaign.tasks import CellTask, InputFacts, Subject
from gpu_eval.devices.base import Device, DeviceLostError, Job, Outcome, Session
from gpu_eval.problems.definition import Problem
from gpu_eval.problems.plan import LaunchPlan, ResolvedPlan
from gpu_eval.problems.tensors import dimensions
from suiteopt.errors import UserError
from suiteopt.matrix.schema import EXCEPTION_STATUSES, MEASURED_STATUSES, Role, Status

DEADLINE_FACTOR = 20.0
"""A run may take this many times its substrate's own time (or the floor, if that is more)."""

TORCH_DEADLINE = 60.0
"""Seconds after which a torch callable counts as hanging; only the supervisor looks at it."""

PROBE_FACTOR = 3.0
"""A suspected cell gets this many deadlines when it is looked at again: neighbours on the same GPU
may have taken the first one."""

CHECKPOINT_SECONDS = 10.0
"""How much measuring a campaign that is stopped may lose for each worker."""

AHEAD = 8
"""Cells that a session is given at once, for each of its lanes: they are queued while results of
others are read."""

LARGE_BYTES = 1 << 28
"""Inputs beyond this do not leave memory reserved on a GPU."""

MEMORY_SECONDS = 5.0
"""What a worker without memory waits for others to give some back."""

RAISED = "the device raised "
"""Begins the message of a run whose session broke; said aloud, since it may be a defect of ours."""


class OrphanedError(Exception):
    """The supervisor is gone; there is nobody to work for."""


class LostCellError(Exception):
    """The device was lost at a cell whose outcome is known; the process is of no further use."""

    def __init__(self, subject: str, cell_input: str, outcome: Outcome) -> None:
        super().__init__(f"{subject} on {cell_input}: {outcome.status}")
        self.subject = subject
        self.input = cell_input
        self.outcome = outcome


class LostBatchError(Exception):
    """The device was lost while several cells of an input were running: it is not known whose."""

    def __init__(self, cell_input: str) -> None:
        super().__init__(f"several implementations on {cell_input}")
        self.input = cell_input


class LostBetweenCellsError(Exception):
    """The device was found lost while no run was under way: nobody is to blame by that alone."""


@dataclass(frozen=True)
class BlockResult:
    """What a task gave: its cells and what stays outside them, and the facts of a base task."""

    progress: Progress
    facts: dict[str, InputFacts]


@dataclass
class _Run:
    """A task under way, how far it has come, and where that is kept (None: nowhere)."""

    task: CellTask
    kept: Path | None
    progress: Progress

    def __post_init__(self) -> None:
        self.known = {(v.subject, v.input): v for v in self.task.verdicts}
        self.convicted = {v.subject for v in self.task.verdicts}
        self._safe = self.progress.copy()
        self._saved = time.monotonic()

    def settle(self) -> None:
        """Take what is known as final: what it was judged by has been found whole."""
        if self.kept is None:
            return  # nobody goes back or goes on
        self._safe = self.progress.copy()
        if time.monotonic() - self._saved > CHECKPOINT_SECONDS:
            self.save()

    def back(self) -> None:
        """Forget what came since."""
        seconds = self.progress.seconds
        self.progress = self._safe.copy()
        self.progress.seconds = seconds

    def repeats(self, row: int, column: int) -> int:
        """Return how often a cell runs."""
        # A kill counts only if it is stable, so a known race is looked at everywhere.
        known = self.task.subjects[row].id in self.progress.racy
        return 2 if known or self.task.inputs[column].id in self.task.repeated else 1

    @contextmanager
    def blaming(self, row: int, column: int) -> Iterator[None]:
        """Say of a device that is lost inside that it was this cell."""
        try:
            yield
        except DeviceLostError as lost:
            self.save()
            subject, pool_input = self.task.subjects[row], self.task.inputs[column]
            raise LostCellError(subject.id, pool_input.id, lost.outcome) from lost

    def save(self) -> None:
        """Write down what is final, for whoever goes on."""
        if self.kept is not None:
            self._safe.seconds = self.progress.seconds
            save(self.kept, self.task.key, self._safe)
            self._saved = time.monotonic()


class Runner:
    """Owns the session of one worker and runs tasks of one problem at a time.

    Parameters
    ----------
    device : Device
    problem : Problem
    beacon : Beacon
        Told of every cell before it runs.
    orphaned : callable
        Whether the supervisor is gone.
    """

    def __init__(
        self, device: Device, problem: Problem, beacon: Beacon, orphaned: Callable[[], bool]
    ) -> None:
        self._device = device
        self._problem = problem
        self._beacon = beacon
        self._factory = CaseFactory(problem, device.torch_device)
        self._session: Session | None = None
        self._orphaned = orphaned
        self._plans: dict[tuple[int, str], ResolvedPlan] = {}
        self._callables = Callables(problem)
        self._phases = Phases()
        self._integrity = Integrity()

    def close(self) -> None:
        """Give the device back."""
        self._factory.clear()
        if self._session is not None:
            self._session.close()
            self._session = None

    def run(self, task: CellTask, shards: Path | None = None) -> BlockResult:
        """Run a task; the inputs are the outer loop, so that each is bound once.

        Parameters
        ----------
        task : CellTask
        shards : Path or None
            Where a block leaves how far it has come, and looks for it, on a device whose runs
            cannot corrupt what is known. A base task always begins anew.

        Raises
        ------
        OrphanedError
            If the supervisor died in the meantime.
        LostCellError
            If a run took the device with it.
        LostBatchError
            If one of several runs that were under way together did.
        LostBetweenCellsError
            If the device turned out to be lost while no run was under way.
        UserError
            If the device is not to be had.
        """
        kept = shards if task.facts is not None and self._device.isolated else None
        run = _Run(task, kept, Progress() if kept is None else load(kept, task.key))
        try:
            return self._run(run)
        except (OrphanedError, LostCellError, LostBatchError, UserError):
            raise
        except Exception as error:
            if not self._lost():
                raise
            run.save()
            message = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            raise LostBetweenCellsError(message) from error

    def _run(self, run: "_Run") -> BlockResult:
        task = run.task
        self._plans.clear()
        self._callables.previous = None
        self._phases = Phases(run.progress.seconds)
        run.progress.seconds = self._phases.seconds
        self._beacon.end(run.progress.column * len(task.subjects) + run.progress.row)
        facts: dict[str, InputFacts] = {}
        base = base_facts.BaseObserver(self._problem, self._factory) if not task.facts else None
        if task.probe is not None:
            self._probe(run)
        for column in range(run.progress.column, len(task.inputs)):
            pool_input = task.inputs[column]
            if self._orphaned():
                raise OrphanedError
            prepared, reason = self._prepare(task, pool_input)
            if prepared is None:
                for row in range(run.progress.row, len(task.subjects)):
                    run.progress.table.mark(row, column, Status.INVALID)
                self._beacon.end(len(task.subjects) - run.progress.row)
                run.progress.column, run.progress.row = column + 1, 0
                run.settle()
                if base is not None:
                    facts[pool_input.id] = base_facts.invalid(reason)
                continue
            if base is not None:
                with self._phases(Phase.FACTS):
                    own = self._open().judge(prepared.case.reference)
                    base.begin(pool_input, prepared, own)
            self._column(run, column, prepared, base)
            if run.kept is not None and not self._intact(prepared):
                # One of these cells wrote over what they are judged by: all of them once more,
                # and after each a look whether it was the one.
                run.back()
                self._beacon.end(run.progress.row - len(task.subjects))
                prepared = self._remade(task, pool_input)
                self._column(run, column, prepared, base, careful=True)
            run.progress.column, run.progress.row = column + 1, 0
            run.settle()
            if base is not None:
                facts[pool_input.id] = base.facts()
            self._callables.previous = prepared.case.reference
        return BlockResult(run.progress, facts)

    def _column(
        self,
        run: "_Run",
        column: int,
        prepared: Prepared,
        base: base_facts.BaseObserver | None,
        careful: bool = False,
    ) -> None:
        """Run the implementations on an input, from the current row on."""
        task, pool_input, progress = run.task, run.task.inputs[column], run.progress
        deadline = self._deadline(task, pool_input)
        lanes = 1 if careful else min(lanes_wanted(task, column), self._open().lanes)
        alone: list[int] = []
        company: list[int] = []
        for row in range(progress.row, len(task.subjects)):
            subject = task.subjects[row]
            together = lanes > 1 and subject.id not in run.convicted and mixes(progress, subject)
            (company if together else alone).append(row)
        callables: list[int] = []
        if base is not None and pool_input.id not in task.singly:
            callables = [row for row in alone if is_callable(task.subjects[row])]
            alone = [row for row in alone if row not in callables]
        # Whoever may take the device along comes first: less has been done by then.
        for row in alone:
            progress.row = min([row, *company[:1]])
            # A convicted mutant's next verdict counts at once: it gets a second look's time.
            longer = PROBE_FACTOR if task.subjects[row].id in run.convicted else 1.0
            with run.blaming(row, column):
                outcomes = self._cell(run, row, column, prepared, longer * deadline, careful)
            if base is not None and outcomes:
                base.observe(task.subjects[row], outcomes)
            if careful:
                prepared = self._prepare(task, pool_input)[0] or prepared
        for row, outcomes in self._judged_together(run, column, prepared, callables, deadline):
            if base is not None:
                base.observe(task.subjects[row], outcomes)
        self._company(run, column, prepared, company, lanes, deadline)
        progress.row = len(task.subjects)

    def _judged_together(
        self,
        run: "_Run",
        column: int,
        prepared: Prepared,
        rows: Sequence[int],
        deadline: float,
    ) -> Iterator[tuple[int, list[Outcome]]]:
        """Judge what torch callables give, several at a time; yield those that have outcomes."""
        waiting = []
        for row in rows:
            known = self._known(run, row, column)
            if known is None:
                waiting.append(row)
            elif known:
                yield row, known
        for group in in_company(waiting, prepared.case):
            subjects = [run.task.subjects[row] for row in group]
            self._beacon.begin(group[0], column, len(group) * deadline, len(group))
            found = None
            if len(group) > 1:
                found = self._judged(subjects, prepared, run.task.inputs[column].id)
            for place, row in enumerate(group):
                if found is None:
                    self._beacon.begin(row, column, deadline)
                    with run.blaming(row, column):
                        outcomes = self._outcomes(run, row, column, prepared, deadline)
                else:
                    outcomes = [found[place]]
                self._settle(run, row, column, outcomes)
                yield row, outcomes

    def _judged(
        self, subjects: Sequence[Subject], prepared: Prepared, pool_input: str
    ) -> Sequence[Outcome] | None:
        """Judge what some torch callables give; None where one of them breaks something."""
        case = prepared.case
        try:
            with self._phases(Phase.CONTROLS):
                given = [self._callables.outputs(subject, case) for subject in subjects]
                return self._open().judge_many(given)
        except UserError:
            raise
        except Exception as error:
            if isinstance(error, DeviceLostError) or self._lost():
                raise LostBatchError(pool_input) from error
            # Which of them it is shows when each runs by itself.
            self._renewed(prepared)
            return None

    def _company(
        self,
        run: "_Run",
        column: int,
        prepared: Prepared,
        rows: Sequence[int],
        lanes: int,
        deadline: float,
    ) -> None:
        """Run implementations on an input side by side, so many at a time."""
        coming = iter(rows)
        cells: list[Cell] = []
        while True:
            while len(cells) < AHEAD * lanes and (row := next(coming, None)) is not None:
                if self._known(run, row, column) is None:
                    cells += self._resolved(run, row, column)
            if not cells:
                return
            run.progress.row = cells[0].row
            self._together(run, column, prepared, cells, lanes * deadline, deadline)
            for cell in cells:
                if cell.done:
                    self._settle(run, cell.row, column, cell.outcomes)
            cells = [cell for cell in cells if not cell.done]

    def _together(
        self,
        run: "_Run",
        column: int,
        prepared: Prepared,
        cells: list[Cell],
        limit: float,
        deadline: float,
    ) -> None:
        """Give each of some cells its next run, several at the same time.

        The session itself ends what is overdue; ``limit`` is for the supervisor, which looks after
        sessions that do not.
        """
        if len(cells) > 1:
            jobs = [cell.job(self._device.schedules, deadline) for cell in cells]
            self._beacon.begin(cells[0].row, column, limit, len(jobs))
            try:
                with self._phases(Phase.KERNELS):
                    outcomes = self._open().run_many(jobs)
                for cell, outcome in zip(cells, outcomes, strict=True):
                    cell.outcomes.append(outcome)
                return
            except UserError:
                raise
            except Exception as error:
                if isinstance(error, DeviceLostError) or self._lost():
                    run.save()
                    raise LostBatchError(run.task.inputs[column].id) from error
                # The device stands; what broke, and at whom, shows when each runs by itself.
                self._renewed(prepared)
        for cell in cells:
            self._beacon.begin(cell.row, column, deadline)
            with run.blaming(cell.row, column):
                self._finish(cell, prepared, deadline)

    def _resolved(self, run: "_Run", row: int, column: int) -> list[Cell]:
        """Return a cell that is ready to run; none where its launches have no sizes."""
        subject, pool_input = run.task.subjects[row], run.task.inputs[column]
        assert subject.plan is not None
        try:
            plan = self._resolve(subject.plan, pool_input.shape)
        except UserError as error:
            self._settle(run, row, column, [_unlaunched(error)])
            return []
        return [Cell(row, subject, plan, run.repeats(row, column))]

    def _cell(
        self,
        run: "_Run",
        row: int,
        column: int,
        prepared: Prepared,
        deadline: float,
        careful: bool,
    ) -> list[Outcome]:
        """Run a cell, or mark it where it need not run (then there are no outcomes)."""
        known = self._known(run, row, column)
        if known is not None:
            return known
        task = run.task
        self._beacon.begin(row, column, deadline)
        outcomes = self._outcomes(run, row, column, prepared, deadline)
        if careful and not self._intact(prepared):
            outcomes = self._salvaged(task, task.inputs[column], outcomes)
        self._settle(run, row, column, outcomes)
        return outcomes

    def _known(self, run: "_Run", row: int, column: int) -> list[Outcome] | None:
        """Settle a cell that need not run: return its verdict or no outcomes; None if it must."""
        task, progress = run.task, run.progress
        subject, pool_input = task.subjects[row], task.inputs[column]
        fatal = progress.fatal.setdefault(subject.id, FatalRecord())
        if fatal.closes(pool_input.scope):
            progress.table.mark(row, column, Status.CLOSED)
            self._beacon.end()
            return []
        if pool_input.role == Role.OWN and subject.id in progress.decided:
            progress.table.mark(row, column, Status.DECIDED)
            self._beacon.end()
            return []
        verdict = run.known.get((subject.id, pool_input.id))
        if verdict is None:
            return None
        outcomes = [Outcome(Status(verdict.status), message=verdict.message)]
        self._settle(run, row, column, outcomes)
        return outcomes

    def _settle(self, run: "_Run", row: int, column: int, outcomes: list[Outcome]) -> None:
        """Store a cell's outcomes, and what they say of the cells to come."""
        task, progress = run.task, run.progress
        subject, pool_input = task.subjects[row], task.inputs[column]
        if disagree(outcomes):
            progress.racy.add(subject.id)
        status = progress.table.add(row, column, outcomes)
        self._beacon.end()
        if status in EXCEPTION_STATUSES:
            progress.fatal[subject.id].add(pool_input.scope)
            progress.messages.setdefault(subject.id, outcomes[0].message[:500])
            if outcomes[0].message.startswith(RAISED):
                progress.raised.setdefault(subject.id, outcomes[0].message[:500])
        elif pool_input.id == task.own and task.facts is not None and far_off(outcomes):
            progress.decided.add(subject.id)
        if any(o.status is Status.OUT_OF_BOUNDS for o in outcomes):
            progress.outside.add(subject.id)
        if any(o.divergent for o in outcomes):
            progress.divergent.add(subject.id)

    def _prepare(self, task: CellTask, pool_input: PoolInput) -> tuple[Prepared | None, str]:
        if task.facts is not None and not task.facts[pool_input.id].valid:
            return None, ""
        with self._phases(Phase.OPEN):
            self._open()  # before torch takes the device, so that one context is made
        with self._phases(Phase.INPUTS):
            try:
                prepared = self._made(pool_input)
            except InvalidInputError as error:
                if self._lost():
                    raise  # it is the device that failed, not the reference
                return None, str(error)
            self._open().bind(prepared.case)
        if self._device.isolated and not self._intact(prepared):
            prepared = self._remade(task, pool_input)
        return prepared, ""

    def _intact(self, prepared: Prepared) -> bool:
        with self._phases(Phase.INTACT):
            return self._integrity.holds(self._open(), prepared.case.key)

    def _remade(self, task: CellTask, pool_input: PoolInput) -> Prepared:
        """Make an input anew whose tensors are no longer to be trusted."""
        self._factory.drop(pool_input)
        key = case_key(self._problem, pool_input)
        self._open().forget(key)
        self._integrity.forget(key)
        prepared, reason = self._prepare(task, pool_input)
        if prepared is None:
            raise RuntimeError(f"{key} cannot be made a second time: {reason}")
        return prepared

    def _salvaged(
        self, task: CellTask, pool_input: PoolInput, outcomes: list[Outcome]
    ) -> list[Outcome]:
        """Judge a run once more that wrote over its own references, by fresh ones."""
        last = outcomes[-1]
        outputs = {}
        if last.status in MEASURED_STATUSES:
            outputs = {name: tensor.cpu() for name, tensor in self._open().outputs().items()}
        self._remade(task, pool_input)
        if not outputs:
            return outcomes
        judged = self._open().judge(outputs)
        message = "memory that belongs to others was written"
        return [replace(judged, status=Status.OUT_OF_BOUNDS, message=message)]

    def _lost(self) -> bool:
        return self._session is not None and self._session.lost()

    def _made(self, pool_input: PoolInput) -> Prepared:
        """Make an input; memory that earlier ones hold is given back where it is wanted."""
        import torch

        try:
            prepared = self._factory.get(pool_input)
        except torch.OutOfMemoryError:
            self._free()
            try:
                prepared = self._factory.get(pool_input)
            except torch.OutOfMemoryError as error:
                raise UserError(
                    f"the GPU has too little memory for the input {pool_input.id}; "
                    "give --jobs a smaller number"
                ) from error
        if self._device.torch_device != "cpu" and prepared.bytes > LARGE_BYTES:
            # Other workers share the GPU, and references leave temporaries behind.
            torch.cuda.empty_cache()
        return prepared

    def _free(self) -> None:
        """Give back the memory of the device that is not in use at this moment."""
        import torch

        self._factory.clear()
        torch.cuda.empty_cache()
        time.sleep(MEMORY_SECONDS)

    def _deadline(self, task: CellTask, pool_input: PoolInput) -> float:
        if task.facts is None:
            # Nothing is known yet of this input; substrates are verified code.
            return max(TORCH_DEADLINE, task.deadline_floor)
        return max(task.deadline_floor, DEADLINE_FACTOR * task.facts[pool_input.id].seconds)

    def _probe(self, run: "_Run") -> None:
        task = run.task
        assert task.probe is not None
        row = [subject.id for subject in task.subjects].index(task.probe[0])
        column = [pool_input.id for pool_input in task.inputs].index(task.probe[1])
        pool_input = task.inputs[column]
        prepared, _ = self._prepare(task, pool_input)
        if prepared is not None:
            deadline = PROBE_FACTOR * self._deadline(task, pool_input)
            self._beacon.begin(row, column, deadline)
            try:
                self._outcomes(run, row, column, prepared, deadline)
            except DeviceLostError as lost:
                raise LostCellError(task.probe[0], task.probe[1], lost.outcome) from lost
            self._beacon.idle()

    def _outcomes(
        self, run: "_Run", row: int, column: int, prepared: Prepared, deadline: float
    ) -> list[Outcome]:
        subject, pool_input = run.task.subjects[row], run.task.inputs[column]
        if is_callable(subject):
            with self._phases(Phase.CONTROLS):
                return [self._guarded(prepared, lambda: self._judge(subject, prepared))]
        assert subject.plan is not None
        try:
            plan = self._resolve(subject.plan, pool_input.shape)
        except UserError as error:
            return [_unlaunched(error)]
        cell = Cell(row, subject, plan, run.repeats(row, column))
        self._finish(cell, prepared, deadline)
        return cell.outcomes

    def _finish(self, cell: Cell, prepared: Prepared, deadline: float) -> None:
        """Run a cell by itself as often as it has to run."""
        while not cell.done:
            job = cell.job(self._device.schedules, deadline)
            with self._phases(Phase.KERNELS):
                cell.outcomes.append(self._guarded(prepared, self._launch(job)))

    def _launch(self, job: Job) -> Callable[[], Outcome]:
        return lambda: self._open().run(
            job.binary, job.plan, schedule=job.schedule, deadline=job.deadline
        )

    def _guarded(
        self, prepared: Prepared, action: Callable[[], Outcome], again: bool = False
    ) -> Outcome:
        """Run something that may break the session; a broken one is replaced."""
        try:
            return action()
        except (UserError, DeviceLostError):
            raise
        except Exception as error:
            if not again and _out_of_memory(error):
                # Other workers share the GPU: no fault of what ran.
                self._free()
                return self._guarded(prepared, action, again=True)
            if _out_of_memory(error):
                raise UserError(
                    f"the GPU has too little memory for {prepared.case.key}; "
                    "give --jobs a smaller number"
                ) from error
            message = " ".join(f"{type(error).__name__}: {error}".split())
            crashed = Outcome(Status.CRASH, message=f"{RAISED}{message}")
            if self._lost():
                raise DeviceLostError(crashed) from error
            self._renewed(prepared)
            return crashed

    def _renewed(self, prepared: Prepared) -> None:
        """Replace the session by one in which nothing is left of what went wrong."""
        self.close()
        self._open().bind(prepared.case)

    def _judge(self, subject: Subject, prepared: Prepared) -> Outcome:
        """Run a torch control or a null mutant and compare what it gives."""
        return self._open().judge(self._callables.outputs(subject, prepared.case))

    def _resolve(self, plan: LaunchPlan, shape: Mapping[str, int]) -> ResolvedPlan:
        key = (id(plan), repr(sorted(shape.items())))
        if key not in self._plans:
            sizes: dict[str, Any] = dimensions(self._problem, shape)
            self._plans[key] = plan.resolve(sizes, self._problem.scalars)
        return self._plans[key]

    def _open(self) -> Session:
        if self._session is None:
            self._session = self._device.open()
        return self._session


def _unlaunched(error: UserError) -> Outcome:
    """Return the outcome of a wrapper whose launch arithmetic fails: it throws before kernels."""
    return Outcome(Status.LAUNCH_ERROR, message=str(error))


def _out_of_memory(error: Exception) -> bool:
    import torch

    return isinstance(error, torch.OutOfMemoryError)
