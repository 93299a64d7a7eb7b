"""One task of a campaign, done on whatever machine: what a cluster's worker runs.

The same supervisor watches over it as on one machine, so a mutant that crashes or hangs costs the
worker's child and not the worker.
"""

import multiprocessing
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from gpu_eval.campaign.attendance import Attendance
from gpu_eval.campaign.journal import Verdict
from gpu_eval.campaign.layout import Layout
from gpu_eval.campaign.settings import Settings
from gpu_eval.campaign.supervisor import Supervisor
from gpu_eval.campaign.tasks import CellTask, CompileTask, Task
from gpu_eval.devices.base import Device
from suiteopt.errors import UserError


@dataclass(frozen=True)
class ShardReport:
    """What came of a task.

    Attributes
    ----------
    files : mapping of str to str
        Names and hashes of its result files; empty if it was shattered.
    verdicts : tuple of Verdict
        Cells that took a worker down, and are to be remembered.
    shattered : bool
        Whether the task has to be replaced by one task an implementation.
    notes : tuple of str
    """

    files: Mapping[str, str]
    verdicts: tuple[Verdict, ...]
    shattered: bool
    notes: tuple[str, ...]


def run_shard(root: Path, settings: Settings, device: Device, task: Task) -> ShardReport:
    """Do one task; its files go to the campaign's directory, which every machine must see.

    Raises
    ------
    UserError
        If the task cannot be done for a reason that the user can mend.
    """
    if multiprocessing.current_process().daemon:
        raise UserError(
            "the Dask workers are daemons, which may not start processes; start them with "
            "DASK_DISTRIBUTED__WORKER__DAEMON=False in their environment"
        )
    # Binaries must lie where the other machines find them, too.
    os.environ.pop("SUITEOPT_CACHE", None)
    with tempfile.TemporaryDirectory(prefix="gpu-eval-") as directory:
        layout = _LocalBeacons(root, Path(directory))
        only = _OneTask(task)
        notes: list[str] = []

        def report(done: int, note: str) -> None:
            if note:
                notes.append(note)

        Supervisor(only, only, layout, device, settings, report).run()
    return ShardReport(only.files, tuple(only.new), only.shattered, tuple(notes))


@dataclass(frozen=True)
class _LocalBeacons(Layout):
    """Beacons are mapped into memory: not a thing for a network's file system."""

    local: Path

    @property
    def beacons(self) -> Path:
        """A directory of this machine."""
        return self.local


@dataclass
class _OneTask:
    """A schedule of one task and its journal."""

    task: Task
    new: list[Verdict] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    shattered: bool = False
    done_cells: int = 0
    handed_out: bool = False
    finished: bool = False

    def next(self, kinds: tuple[type[Task], ...] = (CompileTask, CellTask)) -> Task | None:
        """Return the task, once."""
        if self.handed_out or not isinstance(self.task, kinds):
            return None
        self.handed_out = True
        return self.task

    def again(self, task: Task) -> Task:
        """Return the task with what is known of it now."""
        if isinstance(task, CompileTask):
            return task
        return replace(task, verdicts=self.verdicts(task.key))

    def complete(self, task: Task) -> bool:
        """Take in that the task is done."""
        self.finished = True
        return True

    def shatter(self, task: CellTask | str) -> None:
        """Leave it to the campaign to cut the task in pieces."""
        self.shattered = self.finished = True

    def done(self, key: str, files: Mapping[str, str]) -> None:
        """Keep the result files' names."""
        self.files.update(files)

    def verdict(self, key: str, verdict: Verdict) -> None:
        """Keep a verdict."""
        self.new.append(verdict)

    def attendance(self, found: Attendance) -> None:
        """Who shares a task out does not ask."""

    def verdicts(self, key: str) -> tuple[Verdict, ...]:
        """Return what was known beforehand, and what has come since."""
        before = self.task.verdicts if isinstance(self.task, CellTask) else ()
        return (*before, *self.new)
