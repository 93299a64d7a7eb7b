"""`suiteopt exchange` and `suiteopt import` end to end, in process."""

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from suiteopt.cli.main import app
from suiteopt.errors import UserError
from tests.suiteopt.builders import tiny_matrix
from tests.suiteopt.export.samples import tree
from tests.suiteopt.export.test_transaction import failing

runner = CliRunner()


def run(*words: object) -> Result:
    return runner.invoke(app, [str(word) for word in words])


def answer(*words: object, code: int = 0) -> dict[str, Any]:
    done = run(*words, "--json")
    assert done.exit_code == code, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_matrix(tmp_path_factory.mktemp("m") / "m", own=True).path


def test_a_gate_is_an_exit_code(matrix: Path, tmp_path: Path) -> None:
    words = ("exchange", "junit", "-o", tmp_path / "j.xml", "--matrix", matrix)
    found = answer(*words, "--fail-under", "0.8")
    assert found["detected_share"] == pytest.approx(7 / 8)
    assert found["failures"] == {}
    found = answer(*words, "--fail-under", "0.9", code=1)
    assert list(found["failures"]) == ["all problems"]
    assert b"<failure" in (tmp_path / "j.xml").read_bytes()


def test_a_suite_is_a_check(matrix: Path, tmp_path: Path) -> None:
    suite = tmp_path / "suite.json"
    assert run("select", "-k", "1", "--matrix", matrix, "-o", suite).exit_code == 0
    words = ("exchange", "stryker", "-o", tmp_path / "s.json", "--matrix", matrix)
    found = answer(*words, "--suite", suite)
    report = json.loads((tmp_path / "s.json").read_text())
    statuses = [m["status"] for f in report["files"].values() for m in f["mutants"]]
    assert found["detected_share"] == statuses.count("Killed") / len(statuses) == 0.5


def test_there_and_back_and_select(matrix: Path, tmp_path: Path) -> None:
    assert run("exchange", "major", "-o", tmp_path, "--matrix", matrix).exit_code == 0
    found = answer("import", tmp_path / "level1-001", "-o", tmp_path / "back")
    assert (found["mutants"], found["killed"], found["complete"]) == (5, 4, True)
    assert found["problem"] == "level1-001"
    chosen = answer("select", "-k", "3", "--matrix", tmp_path / "back")
    there = answer("select", "-k", "3", "--matrix", matrix)
    assert chosen["rows"][0]["detected"] == there["rows"][0]["detected"] == 4
    assert answer("info", "--matrix", tmp_path / "back")["mutants"]["valid"] == 5
    assert answer("crossval", "--repeats", "1", "--matrix", tmp_path / "back")["mutants"] == 5


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--suite", "x.json", "--protocol", "kernelbench"), "are different checks"),
        (("--fail-under", "95"), "is no share"),
        (("--protocol", "nothing"), "nothing"),
    ],
)
def test_bad_questions_get_one_sentence(
    matrix: Path, tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    done = run("exchange", "junit", "-o", tmp_path / "j.xml", "--matrix", matrix, *words)
    assert done.exit_code != 0
    assert sentence in str(done.exception)
    assert list(tmp_path.iterdir()) == []


def test_an_incomplete_import_says_so(tmp_path: Path) -> None:
    (tmp_path / "k.csv").write_text("m,t1,t2\na,1,\nb,0,1\n")
    done = run("import", tmp_path / "k.csv", "-o", tmp_path / "m")
    assert "incomplete, 1 of 4 results are not known" in str(done.exception)
    found = answer("import", tmp_path / "k.csv", "-o", tmp_path / "m", "--allow-incomplete")
    assert (found["complete"], found["unknown"]) == (False, 1)
    done = run("import", tmp_path / "k.csv", "-o", tmp_path / "n", "--name", "..")
    assert "no file name" in str(done.exception)


@pytest.mark.parametrize("before", [False, True])
def test_major_is_written_whole_or_not_at_all(
    matrix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: bool
) -> None:
    words = ("exchange", "major", "-o", tmp_path / "out", "--matrix", matrix)
    if before:
        assert run(*words, "--oracle", "fixed:1e-9").exit_code == 0
    there = tree(tmp_path)
    error = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(os, "fsync", failing(os.fsync, 6, error))
    done = run(*words)
    assert isinstance(done.exception, UserError)
    assert "the disk is full" in str(done.exception)
    assert tree(tmp_path) == there
