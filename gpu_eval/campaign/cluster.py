"""A campaign's tasks on a Dask cluster: the same shards, the same cells, wherever they run.

The process that the user started keeps the schedule and the journal. Workers do tasks
(`gpu_eval.campaign.shard`) and leave their files in the campaign's directory, which all machines
see. A worker that is lost loses nothing: Dask gives its task to another.
"""

import contextlib
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpu_eval.campaign.header import tool_version
from gpu_eval.campaign.journal import Journal
from gpu_eval.campaign.layout import Layout
from gpu_eval.campaign.schedule import Schedule
from gpu_eval.campaign.settings import Settings
from gpu_eval.campaign.shard import ShardReport, run_shard
from gpu_eval.campaign.tasks import CellTask, Task
from gpu_eval.devices.base import Device
from suiteopt.errors import MissingExtraError, UserError

if TYPE_CHECKING:
    from distributed import Client

LOCAL = "local:"
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://\S+|[^\s/:]+:\d{1,5}")
AHEAD = 2
"""Tasks on a cluster for each thread of its workers: one to do and one to go on with."""

TRIES = 3
"""How often a task may take a whole worker of the cluster with it."""

CONNECT_SECONDS = 20


def check_scheduler(scheduler: str) -> int:
    """Return how many worker processes of this machine are asked for; 0 for an address.

    Raises
    ------
    UserError
        If it is neither an address nor ``local:N``.
    """
    if scheduler.startswith(LOCAL):
        count = scheduler.removeprefix(LOCAL)
        if not count.isdecimal() or int(count) < 1:
            raise UserError(f"'{scheduler}' is no cluster; use local:N with N of at least 1")
        return int(count)
    if not _ADDRESS.fullmatch(scheduler):
        raise UserError(
            f"'{scheduler}' is no address of a Dask scheduler; give one such as tcp://host:8786, "
            "or local:N for N worker processes on this machine"
        )
    return 0


@contextmanager
def connect(scheduler: str) -> "Iterator[Client]":
    """Connect to a Dask scheduler, or start one with workers on this machine.

    Parameters
    ----------
    scheduler : str
        An address such as ``tcp://host:8786``, or ``local:N`` for N worker processes here.

    Raises
    ------
    UserError
        If it is no address, nobody answers there, or Dask is not installed.
    """
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise MissingExtraError("distributed", "cluster") from error
    count = check_scheduler(scheduler)
    options = {
        # Workers start children of their own, which daemons may not.
        "distributed.worker.daemon": False,
        # The server that a campaign forks its own workers from has torch imported.
        "distributed.worker.multiprocessing-method": "forkserver",
    }
    with dask.config.set(options):
        if not count:
            try:
                client = Client(scheduler, timeout=CONNECT_SECONDS)
            except (OSError, ValueError, TimeoutError) as error:
                raise UserError(
                    f"no Dask scheduler answers at '{scheduler}'; start one with 'dask scheduler', "
                    "or use local:N for N worker processes on this machine"
                ) from error
            with client:
                yield client
            return
        with (
            LocalCluster(count, threads_per_worker=1, dashboard_address=":0") as cluster,
            Client(cluster) as client,
        ):
            yield client


class ClusterRun:
    """Runs a schedule to its end on the workers of a Dask cluster.

    Parameters
    ----------
    client : Client
    schedule : Schedule
    journal : Journal
    layout : Layout
    device : Device
        As the workers have it.
    settings : Settings
    report : callable
        Called with the cells done, and with a note or an empty text.
    """

    def __init__(
        self,
        client: "Client",
        schedule: Schedule,
        journal: Journal,
        layout: Layout,
        device: Device,
        settings: Settings,
        report: Callable[[int, str], None],
    ) -> None:
        self._client = client
        self._schedule = schedule
        self._journal = journal
        self._layout = layout
        self._device = device
        # Each thread of a worker does one task at a time.
        self._settings = replace(settings, jobs=1, compilers=0)
        self._report = report
        self._under_way: dict[Any, Task] = {}
        self._submitted = 0
        self._again: list[Task] = []
        self._damaged: Counter[str] = Counter()

    def run(self) -> None:
        """Work until every task is done.

        Raises
        ------
        UserError
            If the workers do not see the campaign's directory or are of another version, or a
            task cannot be done.
        """
        from distributed import as_completed

        self._layout.shards.mkdir(parents=True, exist_ok=True)
        self._check_workers()
        finished = as_completed([], with_results=False)
        try:
            while True:
                for future in self._submit():
                    finished.add(future)
                if not self._under_way:
                    return
                self._take(next(finished))
                self._report(self._schedule.done_cells, "")
        finally:
            with contextlib.suppress(Exception):
                self._client.cancel(list(self._under_way), force=True)

    def _check_workers(self) -> None:
        found = self._client.run(_look, str(self._layout.settings), on_error="return")
        # A worker that is lost while it is asked is no answer; its successor has not been asked.
        answers = {a: f for a, f in found.items() if not isinstance(f, BaseException)}
        if not answers:
            raise UserError("the Dask cluster has no workers; start some with 'dask worker'")
        for address, (sees, version) in sorted(answers.items()):
            if version != tool_version():
                raise UserError(
                    f"the Dask worker {address} has gpu-eval {version} and this is "
                    f"{tool_version()}; install the same version there"
                )
            if not sees:
                raise UserError(
                    f"the Dask worker {address} does not see {self._layout.root}; put --output on "
                    "a file system that all workers share, under the same path"
                )

    def _submit(self) -> Iterator[Any]:
        while self._again:
            yield self._send(self._again.pop())
        room = AHEAD * max(sum(self._client.nthreads().values()), 1) - len(self._under_way)
        while room > 0:
            task = self._schedule.next()
            if task is None:
                return
            yield self._send(task)
            room -= 1

    def _send(self, task: Task) -> Any:
        self._submitted += 1
        future = self._client.submit(
            run_shard,
            self._layout.root.resolve(),
            self._settings,
            self._device,
            task,
            key=f"{task.key}-{self._submitted}",
            pure=False,
            retries=TRIES - 1,
        )
        self._under_way[future] = task
        return future

    def _take(self, future: Any) -> None:
        task = self._under_way.pop(future)
        report = self._result(future, task)
        for verdict in report.verdicts:
            self._journal.verdict(task.key, verdict)
        for note in report.notes:
            self._report(-1, note)
        if report.shattered and isinstance(task, CellTask):
            self._journal.shatter(task.key)
            self._schedule.shatter(task)
            return
        self._journal.done(task.key, report.files)
        if not self._schedule.complete(task):
            # A task whose worker is lost may run once more, and write while its files are read.
            self._damaged[task.key] += 1
            if self._damaged[task.key] < TRIES:
                self._again.append(task)
                return
            raise UserError(
                f"the files of the task {task.key} were damaged on their way; "
                f"go on with 'gpu-eval resume {self._layout.root}'"
            )

    def _result(self, future: Any, task: Task) -> ShardReport:
        from distributed import KilledWorker

        try:
            report: ShardReport = future.result()
        except KilledWorker as error:
            raise UserError(
                f"the Dask workers that had the task {task.key} of {task.problem} were lost again "
                f"and again; see their logs, then go on with 'gpu-eval resume {self._layout.root}'"
            ) from error
        return report


def _look(path: str) -> tuple[bool, str]:
    """Say on a worker whether it sees a file, and which version it has."""
    return Path(path).exists(), tool_version()
