"""Campaigns on a real Dask cluster of several processes: the same cells, whatever is lost."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from gpu_eval.campaign import cluster
from gpu_eval.campaign.progress import Silent
from gpu_eval.campaign.run import resume, start
from gpu_eval.campaign.schedule import Schedule
from gpu_eval.campaign.tasks import Task
from suiteopt.errors import UserError
from tests.gpu_eval.campaign import tiny
from tests.gpu_eval.campaign.conftest import Baseline
from tests.gpu_eval.campaign.fake import FakeDevice
from tests.gpu_eval.campaign.test_device_lost import Notes

pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Start a scheduler with two worker processes for all tests."""
    with cluster.connect("local:2") as client:
        yield client.scheduler.address


def test_the_same_cells(baseline: Baseline, tmp_path: Path, address: str) -> None:
    start(tmp_path / "matrix", tiny.settings(baseline.corpus), FakeDevice(), Silent(), address)
    assert tiny.cell_hashes(tmp_path / "matrix") == tiny.cell_hashes(baseline.root)


def test_a_fatal_mutant_costs_a_child_and_not_a_worker(
    baseline: Baseline, tmp_path: Path, address: str
) -> None:
    victims = tiny.mutants(baseline.corpus)[3:5]
    device = FakeDevice(acts={victims[0]: "die", victims[1]: "exit"})
    settings = tiny.settings(baseline.corpus, problems=("test/one",))
    notes = Notes()
    start(tmp_path / "here", settings, device, Silent())
    start(tmp_path / "there", settings, device, notes, address)
    assert tiny.cell_hashes(tmp_path / "here") == tiny.cell_hashes(tmp_path / "there")
    assert {note.split(" on ")[0] for note in notes.notes} == set(victims)


@pytest.mark.parametrize("times", [1, 9])
def test_damaged_files_are_made_again_but_not_for_ever(
    baseline: Baseline,
    tmp_path: Path,
    address: str,
    monkeypatch: pytest.MonkeyPatch,
    times: int,
) -> None:
    complete = Schedule.complete
    damaged: list[str] = []

    def looked_at(schedule: Schedule, task: Task) -> bool:
        if len(damaged) < times and damaged[:1] in ([], [task.key]):
            damaged.append(task.key)
            return False
        return complete(schedule, task)

    monkeypatch.setattr(Schedule, "complete", looked_at)
    root = tmp_path / "matrix"
    if times > 1:
        with pytest.raises(UserError, match="damaged on their way; go on with"):
            start(root, tiny.settings(baseline.corpus), FakeDevice(), Silent(), address)
        assert len(damaged) == cluster.TRIES
    else:
        start(root, tiny.settings(baseline.corpus), FakeDevice(), Silent(), address)
        assert tiny.cell_hashes(root) == tiny.cell_hashes(baseline.root)


def test_begun_there_and_ended_here(baseline: Baseline, tmp_path: Path, address: str) -> None:
    class Stop(Notes):
        def cells(self, done: int, total: int, before: int = 0) -> None:
            if done > 0:
                raise KeyboardInterrupt

    root = tmp_path / "matrix"
    with pytest.raises(UserError, match="nothing is lost"):
        start(root, tiny.settings(baseline.corpus), FakeDevice(), Stop(), address)
    resume(root, FakeDevice(), Silent())
    assert tiny.cell_hashes(root) == tiny.cell_hashes(baseline.root)


@pytest.mark.parametrize("count", ["0", "-1", "two", ""])
def test_no_cluster_of_that_size(count: str) -> None:
    with (
        pytest.raises(UserError, match="use local:N with N of at least 1"),
        cluster.connect(f"local:{count}"),
    ):
        pass


def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.5)
    with (
        pytest.raises(UserError, match=r"no Dask scheduler answers at 'tcp://127.0.0.1:9'"),
        cluster.connect("tcp://127.0.0.1:9"),
    ):
        pass


def test_workers_that_do_not_see_the_directory(
    baseline: Baseline, tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "_look", lambda path: (False, cluster.tool_version()))
    with pytest.raises(UserError, match=r"does not see .*put --output on a file system"):
        start(tmp_path / "m", tiny.settings(baseline.corpus), FakeDevice(), Silent(), address)


def test_workers_of_another_version(
    baseline: Baseline, tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "_look", lambda path: (True, "0.0"))
    with pytest.raises(UserError, match=r"has gpu-eval 0.0 and this is"):
        start(tmp_path / "m", tiny.settings(baseline.corpus), FakeDevice(), Silent(), address)


def test_a_lost_worker_loses_nothing(baseline: Baseline, tmp_path: Path, address: str) -> None:
    class Kill(Notes):
        """Kills a worker of the cluster when the first cells are done."""

        victims: ClassVar[list[int]] = []

        def cells(self, done: int, total: int, before: int = 0) -> None:
            if done > 0 and self.victims:
                os.kill(self.victims.pop(), signal.SIGKILL)

    with cluster.connect(address) as client:
        Kill.victims[:] = list(client.run(os.getpid).values())[:1]
        start(tmp_path / "matrix", tiny.settings(baseline.corpus), FakeDevice(), Kill(), address)
    assert Kill.victims == []
    assert tiny.cell_hashes(tmp_path / "matrix") == tiny.cell_hashes(baseline.root)
