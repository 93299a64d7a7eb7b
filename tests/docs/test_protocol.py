"""The protocol of ``docs/protocol.md`` works, and so do the commands under it."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from suiteopt.cli.main import app
from suiteopt.matrix.oracle import Nonfinite
from suiteopt.matrix.schema import OWN_STATISTICS
from suiteopt.protocols import load_protocol
from suiteopt.protocols.protocol import protocol_from
from tests.suiteopt.builders import tiny_matrix

PAGE = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text("utf-8")


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.S)
    return str(found)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tiny_matrix(tmp_path / "m", own=True)
    (tmp_path / "nightly.toml").write_text(block("toml"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_file_says_what_the_text_says(folder: Path) -> None:
    found = load_protocol("nightly.toml")
    assert found.name == "nightly"
    assert found.oracle.nonfinite == Nonfinite.EQUAL_NAN
    assert found.oracle.fixed_tolerance("float32") == 1e-3
    assert [(rule.values, rule.count) for rule in found.inputs] == [
        ("own-[0-9]", 3),
        ("own-x3", 1),
        ("heavy-tail*", None),
    ]


@pytest.mark.parametrize("command", block("sh").splitlines())
def test_a_command_of_the_page_answers(folder: Path, command: str) -> None:
    words = [*shlex.split(command)[1:], "--matrix", "m"]
    words += ["--repeats", "1", "-k", "1"] if "report" in words else []
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, (done.output, done.exception)
    assert done.output


def test_every_value_in_the_table_is_one_that_a_file_takes() -> None:
    base = {"name": "x", "comparator": "rms", "tolerance": 1, "trials": 1}
    words = set(
        re.findall(r'"([a-z_]+)"', PAGE.partition("| the key |")[2].partition("All keys")[0])
    )
    comparators = words & {str(statistic) for statistic in OWN_STATISTICS}
    assert comparators == {str(statistic) for statistic in OWN_STATISTICS}
    policies = words & {str(policy) for policy in Nonfinite}
    assert policies == {str(policy) for policy in Nonfinite}
    statuses = words - comparators - policies
    assert statuses == {"unwritten", "out_of_bounds"}
    assert protocol_from({**base, "sees": sorted(statuses)}, "f")
