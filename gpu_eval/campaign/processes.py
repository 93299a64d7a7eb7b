"""Worker processes: cheap to start, so that a mutant may kill as many as it likes.

Workers are forked from a server process that has imported what they need, the built-in corpus
included, and done nothing else: it has one thread and no device, so forking it is safe, and a
worker starts in milliseconds instead of importing torch and running all definitions anew.
"""

import contextlib
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

_PRELOADED = [
    "torch",
    "numpy",
    "gpu_eval.campaign.worker",
    "gpu_eval.problems.orders",
    "gpu_eval.devices.cuda",
    "gpu_eval.devices.cuda_session",
    "gpu_eval.cli.main",  # every worker imports the program's main module
    "gpu_eval.campaign.inherited",
]

_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Keeps numerical libraries from starting threads in the server when they are imported."""


def warm_up() -> None:
    """Start the server process; it imports in the background."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    with _without_interrupts(), _environment(_ONE_THREAD):
        forkserver.ensure_running()


def start(
    target: Callable[..., None], arguments: tuple[Any, ...], name: str
) -> tuple[BaseProcess, Connection]:
    """Start a process that gets one end of a pipe before its arguments; return the other end."""
    warm_up()
    context = multiprocessing.get_context("forkserver")
    ours, theirs = context.Pipe()
    process = context.Process(target=target, args=(theirs, *arguments), daemon=True, name=name)
    with _without_interrupts():
        process.start()
    theirs.close()
    return process, ours


def kill(process: BaseProcess) -> None:
    """Kill a process and its group (its compilers), and wait for its end."""
    strike(process)
    process.join()


def strike(process: BaseProcess) -> None:
    """Kill a process and its group, and do not wait: a driver may need a second to clear up."""
    pid = process.pid
    if pid is not None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.getpgid(pid) == pid:
                os.killpg(pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            process.kill()


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Block SIGINT: a process started meanwhile never sees the Ctrl-C meant for its parent."""
    old = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old)


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    old = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in old.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
