"""A campaign that is killed, starved or damaged ends in the same cells."""

import json
import multiprocessing
import os
import random
import shutil
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

import pytest

from gpu_eval.campaign import processes
from gpu_eval.campaign.layout import Layout
from gpu_eval.campaign.lock import locked
from gpu_eval.campaign.progress import Silent
from gpu_eval.campaign.run import resume, start
from gpu_eval.devices.base import Binary, KernelSource
from suiteopt.errors import UserError
from tests.gpu_eval.campaign import drive, tiny
from tests.gpu_eval.campaign.conftest import Baseline
from tests.gpu_eval.campaign.fake import FakeDevice


class Driven:
    """A process that runs or resumes a campaign, forked where torch is imported already."""

    def __init__(self, command: str, corpus: Path, root: Path, **options: Any) -> None:
        processes.warm_up()
        context = multiprocessing.get_context("forkserver")
        self.said = root.parent / "said.txt"
        options["server"] = forkserver._forkserver._forkserver_address  # type: ignore[attr-defined]
        arguments = (command, corpus, root, options, self.said)
        self._process = context.Process(target=drive.main, args=arguments)
        self._process.start()

    @property
    def running(self) -> bool:
        return self._process.is_alive()

    def send(self, number: signal.Signals) -> None:
        assert self._process.pid is not None
        os.kill(self._process.pid, number)

    def end(self) -> int | None:
        self._process.join(60)
        return self._process.exitcode

    def kill(self) -> None:
        self.send(signal.SIGKILL)
        assert self.end() == -signal.SIGKILL


def shards_done(root: Path) -> int:
    try:
        return Layout(root).journal.read_text().count('"done"')
    except FileNotFoundError:
        return 0


def wait_for_shards(process: Driven, root: Path, number: int) -> None:
    end = time.monotonic() + 60
    while shards_done(root) < number and process.running and time.monotonic() < end:
        time.sleep(0.01)


@pytest.fixture(scope="module")
def interrupted(baseline: Baseline, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign that was killed in the middle."""
    root = tmp_path_factory.mktemp("interrupted") / "matrix"
    process = Driven("start", baseline.corpus, root, pause=0.002)
    wait_for_shards(process, root, 6)
    process.kill()
    assert not Layout(root).header.exists()
    assert shards_done(root) >= 6
    return root


def test_killed_at_random_moments(baseline: Baseline, tmp_path: Path) -> None:
    root = tmp_path / "matrix"
    draw = random.Random(20261129)
    command = "start"
    for kill in range(2):
        process = Driven(command, baseline.corpus, root, pause=0.002)
        wait_for_shards(process, root, 3 + 6 * kill)
        time.sleep(draw.uniform(0.0, 0.2))
        process.kill()
        command = "resume"
    assert not Layout(root).header.exists()
    resume(root, FakeDevice(), Silent())
    assert tiny.cell_hashes(root) == baseline.hashes
    assert not Layout(root).work.exists()
    again = resume(root, FakeDevice(), Silent())
    assert again.already


def test_interrupt_says_how_to_go_on(baseline: Baseline, tmp_path: Path) -> None:
    root = tmp_path / "matrix"
    process = Driven("start", baseline.corpus, root, pause=0.002)
    wait_for_shards(process, root, 9)
    process.send(signal.SIGINT)
    assert process.end() == 2
    assert (
        process.said.read_text()
        == f"error: interrupted; nothing is lost, go on with 'gpu-eval resume {root}'\n"
    )
    # Damaged shards are found by their hashes and made again, lost ones too.
    shards = sorted(Layout(root).shards.glob("*.npy"))
    data = bytearray(shards[0].read_bytes())
    data[-5] ^= 1
    shards[0].write_bytes(data)
    shards[-1].unlink()
    with Layout(root).journal.open("a") as journal:
        journal.write('{"event": "done", "key": "blo')  # torn by a power cut
    resume(root, FakeDevice(), Silent())
    assert tiny.cell_hashes(root) == baseline.hashes


class UntilMeasured(Silent):
    """Interrupts a campaign before its matrix is written."""

    def stage(self, text: str) -> None:
        if text == "writing the matrix":
            raise KeyboardInterrupt


@dataclass(frozen=True)
class SomeCompiler(FakeDevice):
    """Compiles for one problem only."""

    only: str = ""

    def compile(self, sources: Sequence[KernelSource], cache: Path, jobs: int) -> list[Binary]:
        assert all(self.only and s.id.startswith(self.only) for s in sources), "compiled again"
        return super().compile(sources, cache, jobs)


@pytest.mark.parametrize("lost", [False, True])
def test_what_is_done_needs_no_kernels_elsewhere(
    baseline: Baseline, tmp_path: Path, lost: bool
) -> None:
    """A campaign that goes on without its kernels compiles for open problems alone."""
    root = tmp_path / "matrix"
    with pytest.raises(UserError, match="interrupted"):
        start(root, tiny.settings(baseline.corpus), FakeDevice(), UntilMeasured())
    layout = Layout(root)
    shutil.rmtree(layout.cache)
    only = ""
    if lost:
        notes = next(layout.shards.glob("block-*.json"))
        only = json.loads(notes.read_text())["problem"]
        notes.unlink()
    resume(root, SomeCompiler(only=only), Silent())
    assert tiny.cell_hashes(root) == baseline.hashes


def test_full_disk(baseline: Baseline, tmp_path: Path) -> None:
    root = tmp_path / "matrix"
    process = Driven("start", baseline.corpus, root, file_limit=60_000)
    assert process.end() == 2
    said = process.said.read_text()
    assert said.count("\n") == 1
    assert "is full" in said
    assert f"go on with 'gpu-eval resume {root}'" in said
    resume(root, FakeDevice(), Silent())
    assert tiny.cell_hashes(root) == baseline.hashes


def test_started_twice(baseline: Baseline, interrupted: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"already holds a campaign; go on with 'gpu-eval resume"):
        start(interrupted, tiny.settings(baseline.corpus), FakeDevice(), Silent())
    for other in (replace(tiny.settings(baseline.corpus), wild=True), tiny.settings(tmp_path)):
        with pytest.raises(UserError, match="campaign that was asked for something else"):
            start(interrupted, other, FakeDevice(), Silent())
    with (
        locked(Layout(interrupted).lock),
        pytest.raises(UserError, match="another gpu-eval process is at work"),
    ):
        resume(interrupted, FakeDevice(), Silent())
    with pytest.raises(UserError, match="already holds a matrix"):
        start(baseline.root, tiny.settings(baseline.corpus), FakeDevice(), Silent())


def test_changed_corpus_is_refused(interrupted: Path, tmp_path: Path) -> None:
    root = tmp_path / "matrix"
    shutil.copytree(interrupted, root)
    other = tiny.write_corpus(tmp_path / "other")
    kernel = other / "one" / "kernel.cu"
    kernel.write_text(kernel.read_text().replace("sum = 0.0f", "sum = -0.0f"))
    changed = tiny.settings(other)
    Layout(root).settings.write_text(changed.to_json())
    with pytest.raises(UserError, match="the corpus is no longer the one"):
        resume(root, FakeDevice(), Silent())
    Layout(root).settings.write_text('{"profile": "demo", "colour": 3}')
    with pytest.raises(UserError, match="is damaged or comes from another version"):
        resume(root, FakeDevice(), Silent())


def test_places_that_are_no_campaign(baseline: Baseline, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no campaign"):
        resume(tmp_path / "nowhere", FakeDevice(), Silent())
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match=r"is not empty \(it holds notes.txt\)"):
        start(tmp_path, tiny.settings(baseline.corpus), FakeDevice(), Silent())
    assert os.listdir(tmp_path) == ["notes.txt"]
