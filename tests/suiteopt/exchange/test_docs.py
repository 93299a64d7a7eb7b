"""The commands in docs/ci.md run as they stand there."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from suiteopt.cli.main import app
from tests.suiteopt.builders import tiny_matrix

DOCS = Path(__file__).resolve().parents[3] / "docs" / "ci.md"
OURS = """
name = "ours"
comparator = "allclose_candidate"
tolerance = 1e-3
trials = 2
"""


def commands() -> list[str]:
    blocks = re.findall(r"```(?:console|yaml)\n(.*?)```", DOCS.read_text(), flags=re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    found = [re.match(r"\s*(?:run: )?suiteopt (.*)", line) for line in lines]
    return list(dict.fromkeys(match[1] for match in found if match))


def test_there_are_commands() -> None:
    assert [command.split()[0] for command in commands()] == ["exchange", "exchange", "report"]


@pytest.mark.parametrize("command", commands())
def test_a_command_of_the_page_works(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = {"level1/001": [True, True, True, True, False], "level1/019": [True, False, True]}
    tiny_matrix(tmp_path / "matrices" / "ours", own=True, own_kills=own)
    (tmp_path / "ours.toml").write_text(OURS)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, shlex.split(command))
    assert done.exit_code == 0, (done.output, done.exception)


def test_the_gate_of_the_page_closes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny_matrix(tmp_path / "matrices" / "ours", own=True)
    (tmp_path / "ours.toml").write_text(OURS)
    monkeypatch.chdir(tmp_path)
    gate = next(command for command in commands() if "--fail-under" in command)
    assert CliRunner().invoke(app, shlex.split(gate)).exit_code == 1
