"""Workers are forked from a server with one thread."""

import os
import subprocess
import sys
import time
from multiprocessing import forkserver
from multiprocessing.connection import Connection

import pytest

from gpu_eval.campaign import processes


def answer(connection: Connection, word: str) -> None:
    """Send back what came, then wait to be killed."""
    connection.send((os.getpid(), word, "torch" in sys.modules))
    time.sleep(60)


def test_a_worker_starts_with_everything_imported_and_can_be_killed() -> None:
    process, connection = processes.start(answer, ("hello",), "test")
    pid, word, has_torch = connection.recv()
    assert (pid, word, has_torch) == (process.pid, "hello", True)
    processes.kill(process)
    assert process.exitcode == -9
    with pytest.raises(EOFError):
        connection.recv()


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="needs /proc")
def test_the_server_has_one_thread() -> None:
    process, connection = processes.start(answer, ("hello",), "test")
    connection.recv()
    server = forkserver._forkserver._forkserver_pid  # type: ignore[attr-defined]
    assert len(os.listdir(f"/proc/{server}/task")) == 1
    processes.kill(process)


def test_workers_need_neither_pyarrow_nor_pandas() -> None:
    code = "import sys, gpu_eval.campaign.worker; print({'pyarrow', 'pandas'} & set(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "set()\n"
