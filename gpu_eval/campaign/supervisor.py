"""Keeps workers busy, sees them hang or die, finds the culprit and goes on."""

import contextlib
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Protocol

from gpu_eval.campaign import processes
from gpu_eval.campaign import worker as workers
from gpu_eval.campaign.attendance import Attendance
from gpu_eval.campaign.beacon import Beacon
from gpu_eval.campaign.journal import Verdict
from gpu_eval.campaign.layout import Layout
from gpu_eval.campaign.settings import Settings
from gpu_eval.campaign.tasks import CellTask, CompileTask, Task
from gpu_eval.campaign.worker import Done, Failed, Lost, LostBatch, Ready, WorkerContext
from gpu_eval.devices.base import Device
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Status

POLL_SECONDS = 0.2

HANG_FACTOR = 10.0
"""A session ends overdue runs itself. A worker whose cell takes this many deadlines (and some
seconds on top) cannot any more, and is killed. The factor is large because a device may count
processor time, of which a busy machine gives a run little."""

DEATHS_OUTSIDE = 3
"""Deaths of a task's workers outside any cell (out of memory, killed from outside) before the
campaign gives up."""

DEATHS_IDLE = 5

UNEXPLAINED_DEATHS = 3
"""Deaths at different cells of a block before its implementations are run in workers of their
own: one of them corrupts memory and another pays for it."""


class CampaignError(RuntimeError):
    """A defect of this program, with the worker's traceback."""


@dataclass
class _Worker:
    """A worker process as the supervisor sees it."""

    process: BaseProcess
    connection: Connection
    beacon: Beacon
    path: Path
    place: int
    started: float
    task: Task | None = None
    began: float = 0.0
    ready: bool = False
    used: bool = False


STOPPED = "stopped"
"""How a task is interrupted with the campaign: no worker was lost at it."""

COMPILER = -1
"""Place of a worker that takes no device."""

STARTING = 2
"""So many of those that stand by start at the same time at a place: the driver makes one context
after the other, and each stops all processes that measure there."""

SLOW_START_SECONDS = 20.0
"""Whoever takes longer to start, for whatever reason, does not keep others from starting."""


@dataclass
class _Trouble:
    """How often a task took its worker down, and where."""

    suspects: dict[tuple[str, str], int]
    unexplained: int = 0
    outside: int = 0


class Work(Protocol):
    """What there is to do: a whole campaign, or one task of it."""

    @property
    def done_cells(self) -> int:
        """Cells of the tasks that are done."""

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do or being done."""

    def next(self, kinds: tuple[type[Task], ...] = ...) -> Task | None:
        """Return a task of these kinds, or None if there is none at the moment."""

    def again(self, task: Task) -> Task:
        """Return a task with what is known of it now."""

    def complete(self, task: Task) -> bool:
        """Take in the result of a task; False if it is damaged after all."""

    def shatter(self, task: CellTask) -> None:
        """Replace a task by one an implementation."""


class Record(Protocol):
    """Where it is written down what is done, and which cells took a worker along."""

    def done(self, key: str, files: Mapping[str, str]) -> None:
        """Record a task's result files."""

    def verdict(self, key: str, verdict: Verdict) -> None:
        """Record a cell that takes down the worker of a task."""

    def verdicts(self, key: str) -> tuple[Verdict, ...]:
        """Return the recorded verdicts on cells of a task."""

    def shatter(self, key: str) -> None:
        """Record that a task is replaced by smaller ones."""

    def attendance(self, found: Attendance) -> None:
        """Record whether there were workers for what there was to do."""


class Supervisor:
    """Runs a schedule to its end on a number of worker processes.

    Parameters
    ----------
    schedule : Work
    journal : Record
    layout : Layout
    device : Device
    settings : Settings
    report : callable
        Called about five times a second with the cells done, and with a note or an empty text.
    """

    def __init__(
        self,
        schedule: Work,
        journal: Record,
        layout: Layout,
        device: Device,
        settings: Settings,
        report: Callable[[int, str], None],
    ) -> None:
        self._schedule = schedule
        self._journal = journal
        self._layout = layout
        self._device = device
        self._corpora = settings.corpora
        self._places = device.parts()
        self._jobs = settings.jobs
        self._compilers = settings.compilers
        self._report = report
        self._hang_seconds = settings.hang_seconds
        self._workers: list[_Worker] = []
        self._dying: list[BaseProcess] = []
        self._again: list[Task] = []
        self._trouble: dict[str, _Trouble] = {}
        self._started = 0
        self._idle_deaths = 0
        self._attendance = Attendance()

    def run(self) -> None:
        """Work until every task is done.

        Raises
        ------
        UserError
            If a task cannot be done for a reason that the user can mend.
        CampaignError
            If a worker met a defect of this program.
        KeyboardInterrupt
            After every worker has been stopped; what is done is in the journal.
        """
        self._layout.beacons.mkdir(parents=True, exist_ok=True)
        self._layout.shards.mkdir(parents=True, exist_ok=True)
        try:
            while True:
                self._hand_out()
                if self._schedule.finished and not self._busy():
                    return
                self._attendance.look(time.monotonic(), *self._absent())
                self._listen()
                self._report(self._schedule.done_cells + self._cells_under_way(), "")
        finally:
            self._stop_all()
            with contextlib.suppress(OSError):
                self._journal.attendance(self._attendance)

    def _absent(self) -> tuple[int, int]:
        """Return how many workers are not there to measure, and how many have nothing to do."""
        measuring = [w for w in self._workers if w.place != COMPILER]
        free = self._jobs * len(self._places) - sum(w.task is not None for w in measuring)
        # One that is ready and has nothing to do says that there is nothing to do.
        waiting = any(w.ready and w.task is None and not self._full(w.place) for w in measuring)
        return (0, free) if waiting else (free, 0)

    def _busy(self) -> list[_Worker]:
        return [w for w in self._workers if w.task is not None]

    def _hand_out(self) -> None:
        """Give tasks to those who are ready; then start others, which takes a moment each."""
        self._hand_out_tasks()
        for place in range(COMPILER, len(self._places)):
            wanted = self._compilers if place == COMPILER else self._jobs + self._device.standby
            while sum(w.place == place for w in self._workers) < wanted and self._may_start(place):
                self._start(place)

    def _may_start(self, place: int) -> bool:
        """Whether one more may start now: all that are to measure, but few that will stand by."""
        here = [w for w in self._workers if w.place == place]
        began = time.monotonic() - SLOW_START_SECONDS
        starting = sum(not w.ready and w.started > began for w in here)
        missing = self._jobs - sum(w.ready for w in here)
        return place == COMPILER or starting < max(STARTING, missing)

    def _hand_out_tasks(self) -> None:
        for worker in list(self._workers):
            if not worker.ready or worker.task is not None or self._full(worker.place):
                continue
            task = self._task_for(worker.place)
            if task is None:
                continue
            if isinstance(task, CellTask) and task.fresh and worker.used:
                self._again.insert(0, task)
                self._stop(worker)
                self._start(worker.place)
                continue
            worker.task = task
            worker.began = time.monotonic()
            worker.used = True
            worker.beacon.reset()
            # A worker that is gone shows at the next look at its pipe.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                worker.connection.send(task)

    def _full(self, place: int) -> bool:
        """Whether as many workers as may are measuring there; the others stand by."""
        busy = sum(w.place == place and w.task is not None for w in self._workers)
        return place != COMPILER and busy >= self._jobs

    def _task_for(self, place: int) -> Task | None:
        kinds: tuple[type[Task], ...] = (CompileTask,) if self._compilers else ()
        if place != COMPILER:
            kinds = (CellTask,) if self._compilers else (CompileTask, CellTask)
        for task in self._again:
            if isinstance(task, kinds):
                self._again.remove(task)
                return task
        return self._schedule.next(kinds)

    def _start(self, place: int) -> None:
        self._started += 1
        path = self._layout.beacons / f"{os.getpid()}-{self._started}"
        beacon = Beacon(path, create=True)
        device = self._device if place == COMPILER else self._places[place]
        context = WorkerContext(
            device, self._corpora, self._layout.root, path, measures=place != COMPILER
        )
        process, connection = processes.start(workers.main, (context,), f"gpu-eval-{self._started}")
        self._attendance.started += place != COMPILER
        now = time.monotonic()
        self._workers.append(_Worker(process, connection, beacon, path, place, now))

    def _listen(self) -> None:
        handles: dict[Any, _Worker] = {w.connection: w for w in self._workers}
        handles |= {w.process.sentinel: w for w in self._workers}
        heard = {id(handles[h]): handles[h] for h in wait(list(handles), POLL_SECONDS)}
        for worker in heard.values():
            self._hear(worker)
        now = time.monotonic()
        for worker in self._busy():
            seen = worker.beacon.read()
            limit = HANG_FACTOR * seen.deadline + self._hang_seconds
            if seen.running and seen.started > 0 and now - seen.started > limit:
                self._bury(worker, hung=True)

    def _hear(self, worker: _Worker) -> None:
        try:
            if not worker.connection.poll():
                if not worker.process.is_alive():
                    self._bury(worker)
                return
            message = worker.connection.recv()
        except (EOFError, OSError):
            self._bury(worker)
            return
        task = worker.task
        match message:
            case Ready():
                worker.ready = True
                if worker.place != COMPILER:
                    self._attendance.came(time.monotonic() - worker.started)
            case Failed():
                worker.task = None
                self._fail(message)
            case Lost() if isinstance(task, CellTask):
                self._replace(worker, task, message)
            case LostBatch() if isinstance(task, CellTask):
                self._interrupt(worker, "batch")
                self._singly(task, message.input)
            case Done() if task is not None:
                if worker.place != COMPILER:
                    self._attendance.done += time.monotonic() - worker.began
                worker.task = None
                self._journal.done(task.key, message.files)
                self._trouble.pop(task.key, None)
                for note in message.notes:
                    self._report(-1, note)
                if not self._schedule.complete(task):
                    self._again.append(task)

    def _replace(self, worker: _Worker, task: CellTask, lost: Lost) -> None:
        """Take a verdict that the worker itself has given, and go on with a fresh worker."""
        self._interrupt(worker, "cell" if lost.subject else "between")
        if not lost.subject:
            self._count_outside(task, lost.message)
            self._again.append(self._schedule.again(task))
            return
        verdict = Verdict(lost.subject, lost.input, lost.status, lost.message)
        cleared = replace(task, probe=None)
        if lost.status == Status.TIMEOUT and self._is_new(task, verdict):
            # A neighbour on the same GPU that dies takes everybody's time: once more, alone and
            # with a longer deadline.
            cleared = replace(task, probe=(lost.subject, lost.input))
        else:
            self._journal.verdict(task.key, verdict)
            self._report(-1, f"{lost.subject} on {lost.input}: {lost.status}, {lost.message}")
        self._again.append(self._schedule.again(cleared))

    def _singly(self, task: CellTask, cell_input: str) -> None:
        """Let the cells of an input run one by one that took a worker along when run together."""
        apart = replace(task, probe=None, singly=task.singly | {cell_input})
        self._again.append(self._schedule.again(apart))

    def _is_new(self, task: CellTask, verdict: Verdict) -> bool:
        """Whether this is the first that is heard of a cell, and nothing is known of its mutant."""
        trouble = self._trouble.setdefault(task.key, _Trouble({}))
        cell = (verdict.subject, verdict.input)
        trouble.suspects[cell] = trouble.suspects.get(cell, 0) + 1
        known = any(v.subject == verdict.subject for v in self._journal.verdicts(task.key))
        return trouble.suspects[cell] == 1 and not known

    def _fail(self, failure: Failed) -> None:
        if failure.storage:
            raise UserError(
                f"{failure.sentence}; make room or correct the cause, nothing is lost: go on with "
                f"'gpu-eval resume {self._layout.root}'"
            )
        if failure.sentence:
            raise UserError(failure.sentence)
        raise CampaignError(f"a worker failed; this is a defect:\n{failure.details}")

    def _bury(self, worker: _Worker, hung: bool = False) -> None:
        """Take in the death of a worker (or kill one that hangs), and decide what it means."""
        task, seen = worker.task, worker.beacon.read()
        self._interrupt(worker, "death")
        worker.process.join()
        code = worker.process.exitcode
        if task is None:
            self._idle_deaths += 1
            if self._idle_deaths >= DEATHS_IDLE:
                raise UserError(
                    f"worker processes end before they have begun (exit code {code}); what they "
                    "wrote above says why"
                )
            return
        trouble = self._trouble.setdefault(task.key, _Trouble({}))
        if not isinstance(task, CellTask) or not seen.running:
            self._count_outside(task, f"exit code {code}")
            self._again.append(self._schedule.again(task))
            return
        subject, cell_input = task.subjects[seen.subject], task.inputs[seen.input]
        if seen.together > 1:
            self._singly(task, cell_input.id)
            return
        cell = (subject.id, cell_input.id)
        message = "the run did not end" if hung else f"the process died with exit code {code}"
        strikes = trouble.suspects[cell] = trouble.suspects.get(cell, 0) + 1
        convicted = any(v.subject == subject.id for v in self._journal.verdicts(task.key))
        if strikes > 1 or convicted or task.fresh:
            status = Status.TIMEOUT if hung else Status.CRASH
            verdict = Verdict(subject.id, cell_input.id, str(status), message)
            self._journal.verdict(task.key, verdict)
            self._report(-1, f"{subject.id} on {cell_input.id}: {status}, {message}")
            cleared = replace(task, probe=None)
            self._again.append(self._schedule.again(cleared))
            return
        # The first death is only a suspicion: a mutant that ran earlier in the process may have
        # corrupted its memory. The cell is run again, alone, in a fresh worker.
        trouble.unexplained += 1
        if trouble.unexplained > UNEXPLAINED_DEATHS and task.facts is not None:
            self._journal.shatter(task.key)
            self._schedule.shatter(task)
            return
        suspected = replace(task, probe=cell)
        self._again.append(self._schedule.again(suspected))

    def _count_outside(self, task: Task, how: str) -> None:
        """Count a worker that was lost outside any cell; give up when that goes on."""
        trouble = self._trouble.setdefault(task.key, _Trouble({}))
        trouble.outside += 1
        if trouble.outside >= DEATHS_OUTSIDE:
            raise UserError(
                f"a worker died {DEATHS_OUTSIDE} times ({how}) at the task {task.key} of "
                f"{task.problem}, outside any kernel; look for lack of memory, then go on with "
                f"'gpu-eval resume {self._layout.root}'"
            )
        self._report(-1, f"a worker was lost between two cells of {task.problem}: {how}")

    def _cells_under_way(self) -> int:
        return sum(w.beacon.read().cells for w in self._busy())

    def _interrupt(self, worker: _Worker, how: str) -> None:
        """Stop a worker, and note what it had spent at its task."""
        task = worker.task
        if task is not None and worker.place != COMPILER:
            base = isinstance(task, CellTask) and task.facts is None
            self._attendance.ended(how, time.monotonic() - worker.began, base)
            if how != STOPPED:
                self._attendance.lost[how] += 1
        self._stop(worker)

    def _stop(self, worker: _Worker) -> None:
        processes.strike(worker.process)
        self._dying = [process for process in self._dying if process.is_alive()]
        self._dying.append(worker.process)
        worker.connection.close()
        worker.beacon.close()
        worker.path.unlink(missing_ok=True)
        self._workers.remove(worker)

    def _stop_all(self) -> None:
        for worker in list(self._workers):
            self._interrupt(worker, STOPPED)
        for process in self._dying:
            process.join()
