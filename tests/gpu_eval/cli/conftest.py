import pytest

from tests.gpu_eval.cli.command import Command


@pytest.fixture
def gpu_eval(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capsys)
