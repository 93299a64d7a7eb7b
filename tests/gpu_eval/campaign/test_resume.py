"""A campaign that is killed, starved or damaged ends in the same cells."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gpu_eval.campaign.layout import Layout
from gpu_eval.campaign.lock import locked
from gpu_eval.campaign.progress import Silent
from gpu_eval.campaign.run import resume, start
from suiteopt.errors import UserError
from tests.gpu_eval.campaign import tiny
from tests.gpu_eval.campaign.conftest import Baseline
from tests.gpu_eval.campaign.fake import FakeDevice

ROOT = Path(__file__).parents[3]


def drive(command: str, corpus: Path, root: Path, **options: Any) -> "subprocess.Popen[str]":
    arguments = [command, str(corpus), str(root), json.dumps(options)]
    return subprocess.Popen(
        [sys.executable, "-m", "tests.gpu_eval.campaign.drive", *arguments],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    )


def shards_done(root: Path) -> int:
    try:
        return Layout(root).journal.read_text().count('"done"')
    except FileNotFoundError:
        return 0


def wait_for_shards(process: "subprocess.Popen[str]", root: Path, number: int) -> None:
    end = time.monotonic() + 60
    while shards_done(root) < number and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)


@pytest.fixture
def interrupted(baseline: Baseline, tmp_path: Path) -> Path:
    """A campaign that was killed in the middle."""
    root = tmp_path / "matrix"
    process = drive("start", baseline.corpus, root, pause=0.002)
    wait_for_shards(process, root, 6)
    process.kill()
    process.communicate()
    assert not Layout(root).header.exists()
    assert shards_done(root) >= 6
    return root


def test_killed_at_random_moments(baseline: Baseline, tmp_path: Path) -> None:
    root = tmp_path / "matrix"
    draw = random.Random(20261129)
    command = "start"
    for kill in range(3):
        process = drive(command, baseline.corpus, root, pause=0.001)
        wait_for_shards(process, root, 3 + 5 * kill)
        time.sleep(draw.uniform(0.0, 0.2))
        process.kill()
        process.communicate()
        command = "resume"
    assert not Layout(root).header.exists()
    resume(root, FakeDevice(), Silent())
    assert tiny.cell_hashes(root) == baseline.hashes
    assert not Layout(root).work.exists()
    again = resume(root, FakeDevice(), Silent())
    assert again.already


def test_interrupt_says_how_to_go_on(baseline: Baseline, tmp_path: Path) -> None:
    root = tmp_path / "matrix"
    process = drive("start", baseline.corpus, root, pause=0.002)
    wait_for_shards(process, root, 4)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 2
    assert said == f"error: interrupted; nothing is lost, go on with 'gpu-eval resume {root}'\n"
    # Damaged shards are found by their hashes and made again, lost ones too.
    shards = sorted(Layout(root).shards.glob("block-*.npy")) or sorted(
        Layout(root).shards.glob("base-*.npy")
    )
    data = bytearray(shards[0].read_bytes())
    data[-5] ^= 1
    shards[0].write_bytes(data)
    shards[-1].unlink()
    with Layout(root).journal.open("a") as journal:
        journal.write('{"event": "done", "key": "blo')  # torn by a power cut
    resume(root, FakeDevice(), Silent())
    assert tiny.cell_hashes(root) == baseline.hashes


def test_full_disk(baseline: Baseline, tmp_path: Path) -> None:
    root = tmp_path / "matrix"
    process = drive("start", baseline.corpus, root, file_limit=60_000)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 2
    assert said.count("\n") == 1
    assert "is full" in said
    assert f"go on with 'gpu-eval resume {root}'" in said
    resume(root, FakeDevice(), Silent())
    assert tiny.cell_hashes(root) == baseline.hashes


def test_started_twice(baseline: Baseline, interrupted: Path) -> None:
    with pytest.raises(UserError, match=r"already holds a campaign; go on with 'gpu-eval resume"):
        start(interrupted, tiny.settings(baseline.corpus), FakeDevice(), Silent())
    with (
        locked(Layout(interrupted).lock),
        pytest.raises(UserError, match="another gpu-eval process is at work"),
    ):
        resume(interrupted, FakeDevice(), Silent())
    with pytest.raises(UserError, match="already holds a matrix"):
        start(baseline.root, tiny.settings(baseline.corpus), FakeDevice(), Silent())


def test_changed_corpus_is_refused(interrupted: Path, tmp_path: Path) -> None:
    settings_file = Layout(interrupted).settings
    other = tiny.write_corpus(tmp_path / "other")
    kernel = other / "one" / "kernel.cu"
    kernel.write_text(kernel.read_text().replace("sum = 0.0f", "sum = -0.0f"))
    changed = tiny.settings(other)
    settings_file.write_text(changed.to_json())
    with pytest.raises(UserError, match="the corpus is no longer the one"):
        resume(interrupted, FakeDevice(), Silent())


def test_places_that_are_no_campaign(baseline: Baseline, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no campaign"):
        resume(tmp_path / "nowhere", FakeDevice(), Silent())
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match=r"is not empty \(it holds notes.txt\)"):
        start(tmp_path, tiny.settings(baseline.corpus), FakeDevice(), Silent())
    assert os.listdir(tmp_path) == ["notes.txt"]
