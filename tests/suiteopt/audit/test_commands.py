"""`suiteopt audit`, `survivors` and `show`: promised keys, one sentence an error, tables."""

import json
from pathlib import Path
from typing import Any

import pytest

from suiteopt.cli.main import app
from suiteopt.errors import UserError
from tests.command import Command
from tests.suiteopt.audit.made import P, made_matrix
from tests.suiteopt.builders import tiny_matrix

ERRORS = {"level1/001": [0.5, 5e-3, 5e-4, 5e-5, 1e-6], "level1/019": [0.5, 5e-4, 1e-6]}


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("matrix") / "m"
    kills = {problem: [[1]] * len(errors) for problem, errors in ERRORS.items()}
    tiny_matrix(path, kills, own=True, own_kills=ERRORS)
    return str(path)


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    app([*arguments, "--json"], standalone_mode=False)
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    app(list(arguments), standalone_mode=False)
    return capsys.readouterr().out


def test_audit_of_a_protocol(matrix: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "audit", "--protocol", "kernelbench", "--matrix", matrix)
    assert found["protocol"] == "kernelbench"
    assert (found["mutants"], found["detected_share"]) == (8, 5 / 8)
    assert found["missed_share"] == pytest.approx(3 / 8)
    assert len(found["interval"]) == 2
    for groups in (found["by_family"], found["by_operation"]):
        for row in groups.values():
            assert set(row) >= {"mutants", "detected", "missed_share"}
        assert sum(row["mutants"] for row in groups.values()) == 8
    assert set(found["false_rejections"]) >= {"controls", "rejected"}
    assert found["only"] == []
    # multikernelbench is the same check under another name: it takes nothing from "only".
    assert "multikernelbench" not in found["compared"]
    assert found["missed_by_all"] == ["level1/001:m4", "level1/019:m2"]
    assert "value-fuzz" in found["not_compared"]
    text = told(capsys, "audit", "-p", "kernelbench", "--matrix", matrix)
    assert "detects 62.5%" in text
    assert "rejects 0 of 6 correct kernels" in text


def test_all_protocols_side_by_side(matrix: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "audit", "--matrix", matrix)
    assert found["protocols"]["robust-kbench"]["only"] == ["level1/001:m3"]
    assert "robust-kbench" in told(capsys, "audit", "--matrix", matrix)


def test_a_users_own_protocol(
    matrix: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\ncomparator = "rms"\ntolerance = 1e-5\ntrials = 2\n')
    found = answer(capsys, "audit", "--protocol", str(path), "--matrix", matrix)
    assert (found["protocol"], found["detected_share"]) == ("mine", 6 / 8)


def test_decomposition(matrix: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("audit", "--from", "kernelbench-v0.1", "--to", "kernelbench", "--matrix", matrix)
    found = answer(capsys, *arguments)
    assert found["gain_share"] == pytest.approx(3 / 8)
    assert found["tolerance_share"] == pytest.approx(3 / 8)
    assert found["first_tolerance_share"] == pytest.approx(3 / 8)
    assert found["inputs_share"] == found["first_inputs_share"] == 0.0
    assert len(found["interval"]) == 2
    assert "+37.5" in told(capsys, *arguments)


def test_ceiling_and_refereeability(matrix: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "audit", "--ceiling", "--comparator", "rms", "--matrix", matrix)
    assert found["comparator"] == "rms"
    assert {row["family"] for row in found["families"]} == {"lattice", "own draw"}
    assert "most aggressive" in told(capsys, "audit", "--ceiling", "--matrix", matrix)
    found = answer(capsys, "audit", "--refereeability", "--matrix", matrix)
    assert [row["problem"] for row in found["problems"]] == list(ERRORS)
    assert found["problems"][0]["refereeable"]["0.01"] is True
    assert "0_Problem" in told(capsys, "audit", "--refereeability", "--matrix", matrix)


def test_blind_band_with_its_figure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    draws = [f"own-{j}" for j in range(5)]
    cells = {
        "null:zeros": {draw: {"max_abs": 9.0, "rms": 3.0} for draw in draws},
        "m": dict.fromkeys(draws, 1e-5),
        "c": dict.fromkeys(draws, 1e-6),
    }
    path = str(made_matrix(tmp_path / "m", cells).path)
    found = answer(capsys, "audit", "--blind-band", "--matrix", path)
    assert found["rows"][0]["reduction_length"] == 64
    pytest.importorskip("matplotlib")
    figures = [tmp_path / "one.svg", tmp_path / "two.svg"]
    for figure in figures:
        text = told(capsys, "audit", "--blind-band", "--matrix", path, "--figure", str(figure))
        assert "correct kernels" in text
    assert figures[0].read_bytes() == figures[1].read_bytes()
    assert figures[0].read_text().lstrip().startswith("<?xml")


def test_survivors(matrix: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = answer(capsys, "survivors", "--protocol", "kernelbench", "--matrix", matrix)
    assert (found["mutants"], found["survivors"]) == (8, 3)
    assert sum(found["by_reason"].values()) == 3
    # Up to 5e-5 on every draw: more than the controls' 1e-7, less than the 1e-4 allowed.
    assert found["by_reason"] == {"masked_by_tolerance": 3}
    assert {row["reason"] for row in found["rows"]} == set(found["by_reason"])
    assert answer(capsys, "survivors", "--matrix", matrix)["survivors"] == 0
    suite = tmp_path / "suite.json"
    told(capsys, "select", "--budget", "1", "--matrix", matrix, "-o", str(suite))
    found = answer(capsys, "survivors", "--suite", str(suite), "--matrix", matrix)
    assert found["check"] == str(suite)
    text = told(capsys, "survivors", "-p", "kernelbench", "--matrix", matrix)
    assert "3 of 8 faults survive" in text


def test_show_explains_a_mutant(matrix: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "show", "level1/001:m3", "--matrix", matrix)
    assert f"{P}:i0" in found["killed_by"]
    assert found["own_check"]["reason"] == "masked_by_tolerance"
    assert found["diff"].startswith("--- a/kernel.cu\n+++ b/kernel.cu\n")
    text = told(capsys, "show", "level1/001:m3", "--matrix", matrix)
    assert "kernelbench accepts it: its error is below the tolerance" in text
    assert "the clearest first" in text


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["audit", "--protocol", "nobody"], "there is no protocol 'nobody'; use one of"),
        (["audit", "--protocol", "gone.toml"], "there is no file gone.toml"),
        (["audit", "--from", "kernelbench"], "a gain needs two protocols"),
        (["audit", "--ceiling", "--blind-band"], "are different questions; ask one at a time"),
        (["audit", "--figure", "x.svg"], "--figure belongs to --blind-band"),
        (["audit", "--ceiling", "-p", "kernelbench"], "--protocol does not go with --ceiling"),
        (["audit", "--ceiling", "--comparator", "ulps"], "keeps no 'ulps'; use one of"),
        (["audit", "--blind-band"], "has no full-length cells for kernelbench"),
        (["survivors", "--suite", "x", "--protocol", "y"], "are two checks; give one of them"),
        (["survivors", "--suite", "gone.json"], "there is no suite file gone.json"),
        (["survivors", "-p", "kernelbench", "--oracle", "rms:1"], "brings its own oracle"),
    ],
)
def test_one_sentence_an_error(matrix: str, arguments: list[str], sentence: str) -> None:
    with pytest.raises(UserError) as caught:
        app([*arguments, "--matrix", matrix], standalone_mode=False)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_matrix_without_the_statistic_is_exit_code_2(
    suiteopt: Command, matrix: str, tmp_path: Path
) -> None:
    path = tmp_path / "ratio.toml"
    path.write_text(
        'name = "mine"\ncomparator = "allclose_candidate"\ntolerance = 1e-3\n'
        "rtol_over_atol = 0.1\ntrials = 5\n"
    )
    done = suiteopt("audit", "--protocol", str(path), "--matrix", matrix)
    assert done.code == 2
    assert done.out == ""
    assert done.err.count("\n") == 1
    assert "has no column 'allclose_candidate@0.1'" in done.err


def test_an_incomplete_matrix_is_refused_unless_allowed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "m")
    tiny_matrix(tmp_path / "m", {P: [[1]]}, own=True, complete=False)
    for command in ("audit", "survivors"):
        with pytest.raises(UserError, match="is incomplete; finish it"):
            app([command, "-p", "kernelbench", "--matrix", path], standalone_mode=False)
        found = answer(capsys, command, "-p", "kernelbench", "--allow-incomplete", "--matrix", path)
        assert found["mutants"] == 1
