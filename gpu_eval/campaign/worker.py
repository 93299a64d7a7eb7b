"""A worker process: owns one session, runs tasks that a pipe brings, and may die at any time."""

import contextlib
import os
import signal
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from gpu_eval.campaign import results
from gpu_eval.campaign.beacon import Beacon
from gpu_eval.campaign.cases import no_tf32
from gpu_eval.campaign.layout import Layout
from gpu_eval.campaign.losses import (
    LostBatchError,
    LostBetweenCellsError,
    LostCellError,
    OrphanedError,
)
from gpu_eval.campaign.runner import Runner
from gpu_eval.campaign.tasks import CellTask, CompileTask, Task
from gpu_eval.devices.base import Device
from gpu_eval.problems.definition import Problem
from gpu_eval.problems.loader import load_corpus
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Status


@dataclass(frozen=True)
class WorkerContext:
    """What a worker is told when it starts.

    Attributes
    ----------
    device : Device
    corpora : tuple of str
        Further corpus directories.
    root : Path
        The campaign's output directory.
    beacon : Path
        Where the worker says what it is doing.
    measures : bool
        Whether it will run cells, and takes the device before it says that it is ready.
    """

    device: Device
    corpora: tuple[str, ...]
    root: Path
    beacon: Path
    measures: bool = True


@dataclass(frozen=True)
class Ready:
    """A worker has started and takes tasks."""


@dataclass(frozen=True)
class Done:
    """A task is done; its result files by name, with their hashes, and what is worth a line."""

    key: str
    files: Mapping[str, str]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Failed:
    """A task cannot be done.

    Attributes
    ----------
    key : str
    sentence : str
        For the user; empty if it is a defect of this program.
    storage : bool
        Whether the disk is the reason.
    details : str
        Traceback.
    """

    key: str
    sentence: str
    storage: bool
    details: str


@dataclass(frozen=True)
class Lost:
    """The device was lost, at a cell whose outcome is known or between cells; the worker ends.

    Attributes
    ----------
    key : str
        Of the task.
    subject, input : str
        Ids of the implementation and the input; both empty if no cell was running.
    status, message : str
    """

    key: str
    subject: str
    input: str
    status: str
    message: str


@dataclass(frozen=True)
class LostBatch:
    """The device was lost while several cells of an input were running; the worker ends.

    Nobody is to blame yet: run one by one, the input's cells show who it was.
    """

    key: str
    input: str


def main(connection: Connection, context: WorkerContext) -> None:
    """Run tasks until the pipe closes."""
    # A process group of its own: Ctrl-C reaches the supervisor alone, and killing the group
    # takes compilers along.
    with contextlib.suppress(OSError):
        os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Nothing is sent to a worker at work: whatever its pipe has to say then is its end.
    worker = Worker(context, orphaned=connection.poll)
    try:
        worker.warm()
        connection.send(Ready())
        while True:
            task = connection.recv()
            try:
                answer = worker.handle(task)
            except LostCellError as lost:
                status, message = str(lost.outcome.status), lost.outcome.message
                with contextlib.suppress(OSError):
                    connection.send(Lost(task.key, lost.subject, lost.input, status, message))
                # Nothing is given back: a poisoned context aborts whoever tries.
                os._exit(0)
            except LostBatchError as lost:
                with contextlib.suppress(OSError):
                    connection.send(LostBatch(task.key, lost.input))
                os._exit(0)
            except LostBetweenCellsError as lost:
                with contextlib.suppress(OSError):
                    connection.send(Lost(task.key, "", "", str(Status.CRASH), str(lost)))
                os._exit(0)
            connection.send(answer)
    except (EOFError, BrokenPipeError, ConnectionResetError, OrphanedError):
        pass
    finally:
        worker.close()


class Worker:
    """Handles tasks; keeps the session and the cases of the current problem."""

    def __init__(self, context: WorkerContext, orphaned: Callable[[], bool]) -> None:
        self._context = context
        self._orphaned = orphaned
        self._layout = Layout(context.root)
        self._beacon = Beacon(context.beacon, create=False)
        self._problems: Mapping[str, Problem] | None = None
        self._runner: Runner | None = None
        self._problem = ""

    def handle(self, task: Task) -> Done | Failed:
        """Do a task; every failure but the supervisor's death becomes an answer."""
        try:
            self._beacon.reset()
            if isinstance(task, CompileTask):
                return Done(task.key, self._compile(task))
            return self._run(task)
        except (OrphanedError, LostCellError, LostBatchError, LostBetweenCellsError):
            raise
        except UserError as error:
            storage = isinstance(error.__cause__, OSError)
            return Failed(task.key, str(error), storage, traceback.format_exc())
        except Exception as error:
            storage = isinstance(error, OSError) and error.errno is not None
            sentence = f"{error.strerror}: {error.filename}" if isinstance(error, OSError) else ""
            return Failed(task.key, sentence, storage, traceback.format_exc())

    def warm(self) -> None:
        """Do beforehand what the first cell would wait for."""
        if self._context.measures:
            # What cannot be had now is asked for again by the first task, which can say so.
            with contextlib.suppress(Exception):
                self._corpus()
                self._context.device.warm()

    def close(self) -> None:
        """Give the device back."""
        if self._runner is not None:
            self._runner.close()

    def _compile(self, task: CompileTask) -> dict[str, str]:
        binaries = self._context.device.compile(task.sources, self._layout.cache, 1)
        return results.write_binaries(self._layout.shards, task, list(binaries))

    def _run(self, task: CellTask) -> Done:
        if self._runner is None or self._problem != task.problem:
            self._prepare(task.problem)
        assert self._runner is not None
        result = self._runner.run(task, self._layout.shards)
        files = results.write_block(self._layout.shards, task, result)
        raised = result.progress.raised
        return Done(task.key, files, tuple(f"{k}: {text}" for k, text in raised.items()))

    def _prepare(self, problem: str) -> None:
        import torch

        # One thread: the cores are shared by processes, and sums keep one order.
        torch.set_num_threads(1)
        no_tf32()
        if self._runner is not None:
            self._runner.close()
        self._runner = Runner(
            self._context.device, self._corpus()[problem], self._beacon, self._orphaned
        )
        self._problem = problem

    def _corpus(self) -> Mapping[str, Problem]:
        if self._problems is None:
            corpora = [Path(directory) for directory in self._context.corpora]
            self._problems = load_corpus(corpora).problems
        return self._problems
