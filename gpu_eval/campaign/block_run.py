"""A task under way: what is known of its cells, what of that is final, and what need not run."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gpu_eval.campaign.beacon import Beacon
from gpu_eval.campaign.cells import disagree
from gpu_eval.campaign.checkpoint import Progress, save
from gpu_eval.campaign.closing import FATAL_LIMIT, FatalRecord, far_off
from gpu_eval.campaign.held_session import RAISED
from gpu_eval.campaign.losses import LostCellError
from gpu_eval.campaign.phases import Phases
from gpu_eval.campaign.tasks import CellTask
from gpu_eval.devices.base import DeviceLostError, Outcome
from suiteopt.matrix.schema import CLOSING_STATUSES, EXCEPTION_STATUSES, Kind, Role, Status

DEADLINE_FACTOR = 20.0
"""A run may take this many times its substrate's own time (or the floor, if that is more)."""

TORCH_DEADLINE = 60.0
"""Seconds after which a torch callable counts as hanging; only the supervisor looks at it."""

CHECKPOINT_SECONDS = 10.0
"""How much measuring a campaign that is stopped may lose for each worker."""


@dataclass
class BlockRun:
    """A task under way, how far it has come, and where that is kept.

    Cells are named by the indices of their implementation (row) and input (column) in the task.

    Attributes
    ----------
    task : CellTask
    kept : Path or None
        The directory; None: nowhere.
    progress : Progress
    beacon : Beacon
        Told of every cell before it runs and when it is done.
    convicted : set of str
        Implementations that took a worker down.
    phases : Phases
        The stopwatch of the task.
    """

    task: CellTask
    kept: Path | None
    progress: Progress
    beacon: Beacon

    def __post_init__(self) -> None:
        self.convicted = {v.subject for v in self.task.verdicts}
        self.phases = Phases(self.progress.seconds)
        self.progress.seconds = self.phases.seconds
        self._verdicts = {(v.subject, v.input): v for v in self.task.verdicts}
        self._safe = self.progress.copy()
        self._saved = time.monotonic()

    def begin(self) -> None:
        """Tell the beacon of what was done before."""
        self.beacon.end(self.progress.column * len(self.task.subjects) + self.progress.row)

    def invalid(self, column: int) -> None:
        """Mark the cells of an input that the reference cannot do."""
        first, count = self.progress.row, len(self.task.subjects)
        for row in range(first, count):
            self.progress.table.mark(row, column, Status.INVALID)
        self.beacon.end(count - first)

    def finish(self, column: int) -> None:
        """Go on to the next input; what is known of this one is final."""
        self.progress.column, self.progress.row = column + 1, 0
        self._settle()

    def _settle(self) -> None:
        """Take what is known as final: what it was judged by has been found whole."""
        if self.kept is None:
            return  # nobody goes back or goes on
        self._safe = self.progress.copy()
        if time.monotonic() - self._saved > CHECKPOINT_SECONDS:
            self.save()

    def back(self) -> None:
        """Forget what came since the last input was finished; the current one runs once more."""
        seconds = self.progress.seconds
        self.progress = self._safe.copy()
        self.progress.seconds = seconds
        self.beacon.end(self.progress.row - len(self.task.subjects))

    def save(self) -> None:
        """Write down what is final, for whoever goes on."""
        if self.kept is not None:
            self._safe.seconds = self.progress.seconds
            save(self.kept, self.task.key, self._safe)
            self._saved = time.monotonic()

    def repeats(self, row: int, column: int) -> int:
        """Return how often a cell runs."""
        # A kill counts only if it is stable, so a known race is looked at everywhere.
        known = self.task.subjects[row].id in self.progress.racy
        return 2 if known or self.task.inputs[column].id in self.task.repeated else 1

    def deadline(self, column: int) -> float:
        """Return how many seconds a run on an input may take."""
        task = self.task
        if task.facts is None:
            # Nothing is known yet of this input; substrates are verified code.
            return max(TORCH_DEADLINE, task.deadline_floor)
        facts = task.facts[task.inputs[column].id]
        return max(task.deadline_floor, DEADLINE_FACTOR * facts.seconds)

    @contextmanager
    def blaming(self, row: int, column: int) -> Iterator[None]:
        """Say of a device that is lost inside that it was this cell."""
        try:
            yield
        except DeviceLostError as lost:
            self.save()
            subject, pool_input = self.task.subjects[row], self.task.inputs[column]
            raise LostCellError(subject.id, pool_input.id, lost.outcome) from lost

    def known(self, row: int, column: int) -> list[Outcome] | None:
        """Store a cell that need not run: return its verdict or no outcomes; None if it must."""
        subject, pool_input = self.task.subjects[row], self.task.inputs[column]
        fatal = self.progress.fatal.setdefault(subject.id, FatalRecord())
        skipped = (subject.id, pool_input.id) in self.task.skipped
        limit = self.task.fatal_limit if subject.kind is Kind.MUTANT else FATAL_LIMIT
        if skipped or fatal.closes(pool_input.scope, limit):
            self.progress.table.mark(row, column, Status.CLOSED)
            self.beacon.end()
            return []
        if pool_input.role == Role.OWN and subject.id in self.progress.decided:
            self.progress.table.mark(row, column, Status.DECIDED)
            self.beacon.end()
            return []
        verdict = self._verdicts.get((subject.id, pool_input.id))
        if verdict is None:
            return None
        outcomes = [Outcome(Status(verdict.status), message=verdict.message)]
        self.store(row, column, outcomes)
        return outcomes

    def store(self, row: int, column: int, outcomes: list[Outcome]) -> None:
        """Store a cell's outcomes, and what they say of the cells to come."""
        task, progress = self.task, self.progress
        subject, pool_input = task.subjects[row], task.inputs[column]
        if disagree(outcomes):
            progress.racy.add(subject.id)
        status = progress.table.add(row, column, outcomes)
        self.beacon.end()
        if status in CLOSING_STATUSES:
            progress.fatal[subject.id].add(pool_input.scope)
        if status in EXCEPTION_STATUSES:
            progress.messages.setdefault(subject.id, outcomes[0].message[:500])
            if outcomes[0].message.startswith(RAISED):
                progress.raised.setdefault(subject.id, outcomes[0].message[:500])
        elif pool_input.id == task.own and task.facts is not None and far_off(outcomes):
            progress.decided.add(subject.id)
        if any(o.status is Status.OUT_OF_BOUNDS for o in outcomes):
            progress.outside.add(subject.id)
        if any(o.divergent for o in outcomes):
            progress.divergent.add(subject.id)
