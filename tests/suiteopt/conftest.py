import pytest

from suiteopt.cli.main import run
from tests.command import Command


@pytest.fixture
def suiteopt(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command("suiteopt", run, monkeypatch, capsys)
