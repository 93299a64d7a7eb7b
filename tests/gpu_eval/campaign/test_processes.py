"""Workers are forked from a server with one thread."""

import os
import shutil
import subprocess
import sys
import threading
import time
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from gpu_eval.campaign import processes
from gpu_eval.problems import loader
from gpu_eval.problems.loader import BUILT_IN, load_corpus
from tests.gpu_eval.campaign import tiny


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
def test_the_server_has_one_thread_and_no_device() -> None:
    process, connection = processes.start(answer, ("hello",), "test")
    connection.recv()
    server = forkserver._forkserver._forkserver_pid  # type: ignore[attr-defined]
    assert len(os.listdir(f"/proc/{server}/task")) == 1
    files = Path(f"/proc/{server}/fd").iterdir()
    assert not [name for name in map(os.readlink, files) if name.startswith("/dev/nvidia")]
    processes.kill(process)


def inherited(connection: Connection, directory: str) -> None:
    """Say what of its corpus a worker has from the server, and what else it has from there."""
    kept = {id(problem) for _, problem in loader._KEPT.values()}
    corpus = load_corpus([Path(directory)])
    from torch import cuda

    new = [name for name, problem in corpus.problems.items() if id(problem) not in kept]
    has_device = cuda.is_initialized()  # type: ignore[no-untyped-call]
    state = (threading.active_count(), has_device, "pycuda" in sys.modules)
    connection.send((new, load_corpus().hash(), state))


def test_workers_inherit_the_built_in_corpus_and_load_the_others(tmp_path: Path) -> None:
    corpus = tiny.write_corpus(tmp_path / "corpus")
    process, connection = processes.start(inherited, (str(corpus),), "test")
    new, found, state = connection.recv()
    assert new == ["test/one", "test/two"]
    assert found == load_corpus().hash()
    assert state == (1, False, False)
    process.join()


def test_a_definition_that_has_changed_is_loaded_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("p019_relu", "p023_softmax"):
        shutil.copytree(BUILT_IN / "level1" / name, tmp_path / "level1" / name)
    monkeypatch.setattr(loader, "BUILT_IN", tmp_path)
    monkeypatch.setattr(loader, "_KEPT", {})
    before = load_corpus().problems
    definition = tmp_path / "level1" / "p019_relu" / "problem.py"
    definition.write_text(definition.read_text() + "\n# another line\n")
    after = load_corpus().problems
    assert after["level1/023"] is before["level1/023"]
    assert after["level1/019"] is not before["level1/019"]


def test_workers_need_neither_pyarrow_nor_pandas() -> None:
    code = "import sys, gpu_eval.campaign.worker; print({'pyarrow', 'pandas'} & set(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "set()\n"
