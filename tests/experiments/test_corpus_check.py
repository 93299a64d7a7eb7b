"""The corpus checked problem by problem: the page of known results, order, time, and resuming."""

import json
import multiprocessing
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from experiments import corpus_check
from experiments.corpus_check import (
    Work,
    checked,
    earlier,
    longest_first,
    main,
    page,
    visible_gpus,
)
from gpu_eval.campaign.shapes import PROFILES
from gpu_eval.problems.loader import load_corpus
from suiteopt.console import run_script
from suiteopt.errors import UserError


def kernel(name: str, ratio: float = 0.5, reason: str = "") -> dict[str, Any]:
    row = {"name": name, "kind": "serial", "inputs": 3, "ratio": ratio, "error": 2e-7}
    return {**row, "own_error": 1e-7, "input": "level1/001:own-0", "reason": reason}


def result(*rows: dict[str, Any], missing: tuple[str, ...] = ()) -> dict[str, Any]:
    problems = [{"passed": True, "inputs": 3, "seconds": 1.5, **row} for row in rows]
    return {"device": "cpu", "profile": "demo", "problems": problems, "missing": list(missing)}


def test_the_page_counts_and_names() -> None:
    text = page(
        result(
            {
                "problem": "level1/001",
                "implementations": [kernel("tiled", 0.25), kernel("serial", 2.0)],
                "invalid": {"level1/001:a": "the reference raises"},
                "unjudged": {"level1/001:b": "no answer", "level1/001:c": "no answer"},
                "passed": False,
                "doubt": "",
            },
            {"problem": "level1/002", "error": "the device is gone", "passed": False},
            {"problem": "level2/080", "implementations": [kernel("fused")], "doubt": "all zero"},
            {"problem": "level2/081", "passed": False, "doubt": "no input is valid"},
            missing=("level2/090", "level2/091"),
        )
    )
    lines = text.splitlines()
    assert "| level1 | 2 | 2 | 6 | 1 | 2 | 1 | 3 |" in lines
    assert "| level2 | 2 | 1 | 6 | 0 | 0 | 0 | 3 |" in lines
    assert "- level1/001: serial (beyond its allowance)" in lines
    assert "- level1/002: the device is gone" in lines
    assert "- level2/081: no input is valid" in lines
    assert lines[lines.index("Not proven:") + 2] == "- level2/080: all zero"
    assert lines[lines.index("Not done:") + 2] == "level2/090, level2/091"
    nearest = [line for line in lines if line.startswith("| level1/001 ")]
    assert nearest[0].startswith("| level1/001 serial | serial | 2.00e-07 | 1.00e-07 | 2.00 |")


def test_nothing_is_listed_where_nothing_is_amiss() -> None:
    text = page(result({"problem": "level1/001", "implementations": [kernel("tiled")]}))
    assert "Not " not in text


def test_the_longest_come_first() -> None:
    corpus = load_corpus([])
    problems = [corpus.problem(f"level1/{n}") for n in ("019", "001", "006", "040")]
    contract = PROFILES["contract"]
    ids = [p.id for p in longest_first(problems, contract, {})]
    # ReLU sums nothing, a square product hundreds of terms, LayerNorm millions.
    assert ids == ["level1/040", "level1/006", "level1/001", "level1/019"]
    known = {"level1/019": 3.0, "level1/040": 2.0}
    ids = [p.id for p in longest_first(problems, contract, known)]
    assert ids == ["level1/006", "level1/001", "level1/019", "level1/040"]


def test_a_run_is_kept_and_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--device", "cpu", "--processes", "1", "--directory", str(tmp_path)]
    names = ["level1/019", "level1/028"]
    assert main([*names, *options, "--seconds", "0.01"]) == 0
    kept = tmp_path / "corpus-check-cpu.json"
    first = json.loads(kept.read_text())
    (done,) = first["problems"]
    assert first["missing"] == [name for name in names if name != done["problem"]]
    assert f"not done: {first['missing'][0]}; run again with --resume" in capsys.readouterr().err
    assert done["passed"]
    assert done["proven"]
    assert done["inputs"] == 28
    assert done["seconds"] > 0
    assert main([*names, *options, "--resume"]) == 0
    second = json.loads(kept.read_text())
    assert [p["problem"] for p in second["problems"]] == names
    assert done in second["problems"], "it was not done again"
    assert second["missing"] == []
    assert "| level1 | 2 |" in kept.with_suffix(".md").read_text()

    def nothing_to_do(work: list[Work], *_: object) -> Any:
        assert not work
        return iter(())

    monkeypatch.setattr(corpus_check, "checked", nothing_to_do)
    assert main([*names, *options, "--resume"]) == 0
    with pytest.raises(UserError, match="is of cpu and profile demo; leave --resume out"):
        main([*names, *options, "--resume", "--profile", "quick"])


def test_the_exit_code_says_whether_all_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {"problem": "level1/019", "passed": False, "doubt": "no input is valid"}
    monkeypatch.setattr(corpus_check, "checked", lambda *_: iter([row]))
    options = ["level1/019", "--device", "cpu", "--directory", str(tmp_path)]
    monkeypatch.setattr("sys.argv", ["corpus_check", *options])
    with pytest.raises(SystemExit) as ended:
        run_script(corpus_check.main)
    assert ended.value.code == 1
    assert capsys.readouterr().out == "level1/019 FAILED no input is valid\n"
    row["passed"] = True
    run_script(corpus_check.main)


def test_errors_are_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "corpus-check-cpu.json"
    assert earlier(path, "cpu", "demo") == []
    rows = result({"problem": "level1/001"}, {"problem": "level1/002", "error": "no memory"})
    path.write_text(json.dumps(rows))
    assert [row["problem"] for row in earlier(path, "cpu", "demo")] == ["level1/001"]


def test_an_error_is_the_answer_of_its_problem_alone(tmp_path: Path) -> None:
    work = [Work(name, "no such profile", "cpu", tmp_path, 1) for name in ("level1/019", "x")]
    rows = list(checked(work, 2))
    (error,) = [row for row in rows if row["problem"] == "level1/019"]
    assert error["error"].startswith("UserError: there is no profile 'no such profile'")
    # An unknown problem ends the process before it can answer.
    (ended,) = [row for row in rows if row["problem"] == "x"]
    assert ended["error"] == "its process ended with 1"
    assert not any(row["passed"] for row in rows)


def test_gpus_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert visible_gpus(2) == ["0", "1"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,GPU-5")
    assert visible_gpus(2) == ["3", "GPU-5"]
    asked: list[str] = []

    def told(_: Any, arguments: tuple[Work], name: str) -> Any:
        asked.append(arguments[0].gpu)
        ours, theirs = multiprocessing.Pipe()
        theirs.send({"problem": name})
        return FinishedProcess(), ours

    monkeypatch.setattr(corpus_check, "start", told)
    work = [Work(f"level1/{n:03}", "demo", "cuda", Path("x"), 1) for n in range(6)]
    assert len(list(checked(work, 4, gpus=["3", "GPU-5"]))) == 6
    assert asked[:4] == ["3", "GPU-5"] * 2
    assert sorted(Counter(asked)) == ["3", "GPU-5"]


class FinishedProcess:
    def join(self) -> None:
        pass


@pytest.mark.parametrize("text", ['{"device": "cpu", ', "[]", "{}", "null"])
def test_a_damaged_file_is_no_traceback(tmp_path: Path, text: str) -> None:
    path = tmp_path / "corpus-check-cpu.json"
    path.write_text(text)
    with pytest.raises(UserError, match=r"corpus-check-cpu\.json is damaged .*leave --resume out"):
        earlier(path, "cpu", "demo")


def test_a_damaged_file_is_written_anew_without_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "corpus-check-cpu.json"
    kept.write_text('{"device": "cpu", ')
    row = {"problem": "level1/019", "passed": True}
    monkeypatch.setattr(corpus_check, "checked", lambda *_: iter([row]))
    assert main(["level1/019", "--device", "cpu", "--directory", str(tmp_path)]) == 0
    assert json.loads(kept.read_text())["problems"] == [row]
