"""The suiteopt command line: keys, exit codes, one sentence an error, one object a JSON answer."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.command import Command
from tests.suiteopt.builders import tiny_matrix

RUN = "from suiteopt.cli.main import run; run()"
SAMPLE = Path(__file__).resolve().parents[2] / "data" / "kernelbench_verified_sample"


def in_a_process(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", f"import sys; sys.argv[0] = 'suiteopt'; {RUN}", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
    )


@pytest.mark.parametrize("command", ["audit", "show level1/001", "info --json"])
def test_a_reader_that_goes_away_is_no_failed_check(command: str, matrix: str) -> None:
    words = [sys.executable, "-c", f"import sys; sys.argv[0] = 'suiteopt'; {RUN}", *command.split()]
    line = f"{shlex.join([*words, '--matrix', matrix])} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def answer(suiteopt: Command, *arguments: str) -> dict[str, Any]:
    done = suiteopt(*arguments, "--json")
    assert done.code == 0, done.err
    return done.json


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("matrix") / "m"
    tiny_matrix(path, own=True)
    return str(path)


def test_info_has_the_promised_keys(suiteopt: Command, matrix: str) -> None:
    found = answer(suiteopt, "info", "--matrix", matrix)
    for key in ("problems", "substrates", "rules", "families", "nulls", "controls", "inputs"):
        assert isinstance(found[key], int), key
    assert found["problems"] == 2
    assert found["complete"] is True
    assert set(found["mutants"]) >= {
        "generated", "stillborn", "equivalent", "duplicate", "valid", "witnessed", "distinct"
    }  # fmt: skip
    assert found["mutants"]["valid"] == 8


def test_info_names_rules_that_only_copy(suiteopt: Command, tmp_path: Path) -> None:
    problem = "level1/001"
    rules = {f"{problem}:m0": {"rules": ["original"]}, f"{problem}:m1": {"rules": ["original"]}}
    rules[f"{problem}:m2"] = {"rules": ["copy"]}
    made = tiny_matrix(tmp_path / "m", {problem: [[1, 0], [0, 1], [0, 1]]}, mutants=rules)
    place = ("--matrix", str(made.path))
    assert "rule_behaviours" not in answer(suiteopt, "info", *place)
    found = answer(suiteopt, "info", "--rules", *place)
    assert found["mutants"]["distinct"] == found["rule_behaviours"]["distinct"] == 2
    assert found["rule_behaviours"]["copies"] == ["copy"]
    assert {row["rule"]: row["own"] for row in found["rule_behaviours"]["rules"]} == {
        "copy": 0,
        "original": 1,
    }
    text = suiteopt("info", "--rules", *place).out
    assert "1 of 2 rules add only copies of other rules' behaviour: copy" in text
    assert "behaviour" not in suiteopt("info", *place).out.split("distinct behaviours")[1]


def test_select_has_the_promised_keys_and_values(
    suiteopt: Command, matrix: str, tmp_path: Path
) -> None:
    suite = tmp_path / "suite.json"
    found = answer(suiteopt, "select", "--budget", "2", "--matrix", matrix, "-o", str(suite))
    assert found["budget"] == 2
    assert found["oracle"] == "calibrated"
    assert found["target"] is None
    assert found["problems"] == 2
    assert found["mutants"] == 8
    # level1/001: five mutants, the best pair kills three; level1/019: both inputs kill all three.
    assert found["fitted_share"] == pytest.approx(6 / 8)
    assert found["fitted_macro_share"] == pytest.approx((3 / 5 + 1) / 2)
    assert found["members"] == 4
    assert found["status"] == "proved"
    assert found["false_rejections"] == 0
    assert found["suite"] == str(suite)
    assert sum(row["mutants"] for row in found["by_family"].values()) == 8
    assert set(found) >= {"distinct_share", "seconds"}
    assert json.loads(suite.read_text())["budget"] == 2


def test_crossval_has_the_promised_keys(suiteopt: Command, matrix: str) -> None:
    found = answer(suiteopt, "crossval", "--budget", "1", "--matrix", matrix, "--repeats", "3")
    assert found["problems"] == 2
    assert set(found["splits"]) >= {"random", "site", "rule"}
    for split in ("random", "site", "rule"):
        assert set(found["splits"][split]) >= {"held_out_share", "gap_share", "interval"}
        assert found["splits"][split]["interval"] is None
        assert "sign_flip_p" in found["splits"][split]
    assert set(found["baselines"]) >= {"random_share", "own_share", "oracle_share"}
    assert set(found["controls"]) >= {"held_out", "rejected", "bound_share"}
    assert "stability_share" in found


def test_show_lists_inputs_and_killers(suiteopt: Command, matrix: str) -> None:
    inputs = answer(suiteopt, "show", "level1/001", "--matrix", matrix)["inputs"]
    assert [row["input"] for row in inputs][:4] == [f"level1/001:i{j}" for j in range(4)]
    assert all(row["choosable"] for row in inputs[:4])
    # Column 0 of the hand-made matrix kills m0 and m1, and the null.
    assert inputs[0]["kills"] == 3
    mutant = answer(suiteopt, "show", "level1/001:m1", "--matrix", matrix)
    assert mutant["kind"] == "mutant"
    assert mutant["killed_by"] == ["level1/001:i0", "level1/001:i1"]
    done = suiteopt("show", "level9/999", "--matrix", matrix)
    assert done.code == 2
    assert "no problem and no implementation 'level9/999'" in done.err


def test_targets_are_listed_under_a_key(suiteopt: Command) -> None:
    assert "kernelbench-verified" in [row["name"] for row in answer(suiteopt, "targets")["targets"]]


@pytest.mark.parametrize(
    "command",
    [
        ["info"],
        ["select", "--budget", "2"],
        ["crossval", "--budget", "2", "--repeats", "2"],
        ["targets"],
    ],
    ids=lambda command: command[0],
)
def test_tables_for_people(suiteopt: Command, matrix: str, command: list[str]) -> None:
    place = [] if command[0] == "targets" else ["--matrix", matrix]
    done = suiteopt(*command, *place)
    assert done.code == 0, done.err
    assert "Traceback" not in done.err
    assert len(done.out.splitlines()) >= 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["select", "--budget", "0"], "budget of 0"),
        (["select", "--budget", "two"], "budget"),
        (["select", "--oracle", "fixed:-1"], "-1"),
        (["select", "--oracle", "vibes"], "vibes"),
        (["select", "--target", "nowhere"], "no target 'nowhere'"),
        (["select", "--solver", "oracle-of-delphi"], "oracle-of-delphi"),
        (["select", "--include", "no-such-input"], "no-such-input"),
        (["select", "--tolerance", "1e-3"], "--target"),
        (["crossval", "--folds", "1"], "2 folds"),
        (["crossval", "--seed", "-1"], "--seed"),
        (["frobnicate"], "frobnicate"),
        (["select", "--no-such-option"], "no-such-option"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_usage_is_one_sentence(
    suiteopt: Command, matrix: str, arguments: list[str], sentence: str
) -> None:
    place = ["--matrix", matrix] if arguments[0] in ("select", "crossval") else []
    done = suiteopt(*arguments, *place, "--json")
    assert done.code == 2, done.out + done.err
    assert done.out == ""
    lines = done.err.strip().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("error: ")
    assert sentence in lines[0]


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda m: (m / "matrix.json").unlink(), "no kill matrix"),
        (lambda m: (m / "matrix.json").write_text("{"), "damaged"),
        (lambda m: (m / "cells" / "level1-001.parquet").write_bytes(b"PAR1"), "damaged"),
        (lambda m: (m / "inputs.parquet").unlink(), "missing"),
        (lambda m: shutil.rmtree(m), "no directory"),
    ],
    ids=["headless", "bad header", "bad shard", "lost table", "gone"],
)
def test_damaged_matrices_are_one_sentence(
    suiteopt: Command, tmp_path: Path, damage: Any, sentence: str
) -> None:
    path = tmp_path / "m"
    tiny_matrix(path)
    damage(path)
    done = suiteopt("select", "--budget", "1", "--matrix", str(path))
    assert done.code == 2
    assert len(done.err.strip().splitlines()) == 1
    assert sentence in done.err


def test_newer_format_is_refused(suiteopt: Command, tmp_path: Path) -> None:
    path = tmp_path / "m"
    tiny_matrix(path)
    header = json.loads((path / "matrix.json").read_text())
    header["format"]["major"] = 2
    (path / "matrix.json").write_text(json.dumps(header))
    done = suiteopt("info", "--matrix", str(path))
    assert done.code == 2
    assert "format 2.0" in done.err


def test_opening_the_locked_rules_is_recorded(suiteopt: Command, tmp_path: Path) -> None:
    path = tmp_path / "m"
    before = tiny_matrix(path).id
    answer(suiteopt, "select", "--budget", "1", "--matrix", str(path), "--open-locked")
    header = json.loads((path / "matrix.json").read_text())
    assert header["id"] == before
    assert len(header["ledger"]) == 1
    assert set(header["ledger"][0]) == {"date", "commit", "suite", "result"}
    answer(suiteopt, "select", "--budget", "1", "--matrix", str(path))
    assert len(json.loads((path / "matrix.json").read_text())["ledger"]) == 1


def test_an_unwritable_suite_is_one_sentence(
    suiteopt: Command, matrix: str, tmp_path: Path
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    done = suiteopt("select", "--matrix", matrix, "-o", str(blocked / "suite.json"))
    assert done.code == 2
    assert len(done.err.strip().splitlines()) == 1


def test_export_needs_a_checkout_of_the_target(
    suiteopt: Command, matrix: str, tmp_path: Path
) -> None:
    suite = tmp_path / "suite.json"
    target = "kernelbench-verified"
    answer(suiteopt, "select", "--matrix", matrix, "--target", target, "-o", str(suite))
    (tmp_path / "empty").mkdir()
    done = suiteopt("export", str(suite), "--to", target, "--repo", str(tmp_path / "empty"))
    assert done.code == 2
    assert "no checkout" in done.err
    done = suiteopt("export", str(matrix), "--to", target, "--repo", str(SAMPLE))
    assert done.code == 2
    assert len(done.err.strip().splitlines()) == 1


def test_matrix_is_found_from_the_working_directory(tmp_path: Path) -> None:
    tiny_matrix(tmp_path / "matrices" / "mine")
    (tmp_path / "matrices" / "DEFAULT").write_text("mine\n")
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    done = in_a_process("info", "--json", cwd=below)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["problems"] == 2


def test_a_device_or_a_nameless_file_is_never_replaced(
    suiteopt: Command, matrix: str, tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for name, sentence in ((str(pipe), "is a directory or a device"), ("", "is no name of a file")):
        done = suiteopt("select", "-k", "1", "--matrix", matrix, "-o", name)
        assert done.code == 2
        assert sentence in done.err
        assert "Traceback" not in done.err
    assert pipe.is_fifo()


def test_a_name_in_brackets_is_no_markup(
    suiteopt: Command, matrix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = suiteopt("select", "-k", "1", "--matrix", matrix, "-o", "s[/x].json")
    assert done.code == 0, done.err
    assert (tmp_path / "s[").is_dir()
    assert "wrote s[/x].json" in done.err


def test_a_locale_without_utf8_still_writes_suites(matrix: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUN, "select", "-k", "1", "--matrix", matrix, "-o", "é.json"],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "é.json").is_file()


def test_closed_standard_output_is_one_sentence(matrix: str) -> None:
    code = f"import sys; sys.stdout = None; {RUN}"
    done = subprocess.run(
        [sys.executable, "-c", code, "info", "--json", "--matrix", matrix],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert (
        done.stderr == "error: standard output is closed, so there is nowhere to answer; open it\n"
    )


def test_without_a_command_the_help_goes_to_standard_error(suiteopt: Command) -> None:
    done = suiteopt()
    assert done.code == 2
    assert done.out == ""
    assert "crossval" in done.err
    assert "error:" not in done.err
