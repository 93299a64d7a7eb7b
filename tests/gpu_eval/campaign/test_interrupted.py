"""An interruption at any stage ends in one sentence, and leaves what can be gone on with."""

import os
import signal
from pathlib import Path
from typing import Any, NoReturn

import pytest

from gpu_eval.campaign import run
from gpu_eval.campaign.progress import Silent
from suiteopt.errors import UserError
from suiteopt.matrix.store import Matrix
from tests.gpu_eval.campaign import tiny
from tests.gpu_eval.campaign.conftest import Baseline
from tests.gpu_eval.campaign.fake import FakeDevice


def terminated(*_: Any, **__: Any) -> NoReturn:
    """Be told to end while this is being done."""
    os.kill(os.getpid(), signal.SIGTERM)
    raise AssertionError("the signal should have been heard")


def started(baseline: Baseline, root: Path) -> None:
    run.start(root, tiny.settings(baseline.corpus, problems=("test/one",)), FakeDevice(), Silent())


def test_while_planning(
    baseline: Baseline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "build_plan", terminated)
    with pytest.raises(UserError, match="nothing had been measured yet, run the same command"):
        started(baseline, tmp_path / "matrix")
    assert not (tmp_path / "matrix").exists()


def test_while_writing_the_matrix(
    baseline: Baseline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "matrix"
    with monkeypatch.context() as patched:
        patched.setattr(run, "assemble", terminated)
        with pytest.raises(UserError, match="nothing is lost, go on with 'gpu-eval resume"):
            started(baseline, root)
    run.resume(root, FakeDevice(), Silent())
    assert Matrix.open(root).cells("test/one").equals(Matrix.open(baseline.root).cells("test/one"))


def test_after_the_matrix_was_written(
    baseline: Baseline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "matrix"
    with monkeypatch.context() as patched:
        patched.setattr(run.shutil, "rmtree", terminated)
        with pytest.raises(UserError, match=r"interrupted; the matrix in .* is whole"):
            started(baseline, root)
    assert Matrix.open(root).meta.complete


def test_the_old_handler_comes_back(baseline: Baseline, tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    started(baseline, tmp_path / "matrix")
    assert signal.getsignal(signal.SIGTERM) is before
