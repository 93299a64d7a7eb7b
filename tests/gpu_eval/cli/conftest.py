import pytest

from gpu_eval.cli.main import run
from tests.command import Command


@pytest.fixture
def gpu_eval(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command("gpu-eval", run, monkeypatch, capsys)
