"""Bad input: one sentence, exit code 2, nothing on standard output, nothing left behind."""

from pathlib import Path

import pytest

from suiteopt.matrix.writer import MatrixWriter
from tests.gpu_eval.cli.command import Command


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("nonsense",), "No such command 'nonsense'"),
        (("run",), "Missing option '--output'"),
        (("run", "--output", "OUT", "--jobs", "0"), "Invalid value for '--jobs'"),
        (("run", "--output", "OUT", "--colour"), "No such option: --colour"),
        (("run", "--output", "OUT", "--profile", "huge"), "choose one of demo, quick, full"),
        (("run", "--output", "OUT", "--device", "tpu"), "unknown device 'tpu'"),
        (("run", "--output", "OUT", "--problem", "level9/001"), "no problem 'level9/001'"),
        (("run", "--output", "OUT", "--corpus", "nowhere"), "nowhere is no directory"),
        (("resume", "OUT"), "OUT holds no campaign"),
        (("witness", "OUT"), "OUT is no directory"),
        (("corpus", "check", "level9/001"), "no problem 'level9/001'"),
        (("corpus", "check", "level1/019", "--all"), "not both"),
        (("mutants", "show", "level1/019:relu.cu:no:1"), "no mutant 'level1/019:relu.cu:no:1'"),
        (("mutants", "list", "--problem", "x"), "no problem 'x'"),
        (("replay", "suite.json", "--output", "OUT"), "no suite file suite.json"),
        (("confirm", "suite.json", "--output", "OUT"), "no suite file suite.json"),
        (("merge", "a", "b", "--output", "OUT"), "a is no directory"),
        (("merge", "a", "--output", "OUT"), "at least two"),
        (("new", "Not A Name"), "is not a name for a problem"),
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_one_sentence(
    gpu_eval: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    expected: str,
    as_json: bool,
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = gpu_eval(*arguments, *(["--json"] if as_json else []))
    assert answer.code == 2
    assert answer.out == ""
    assert expected in answer.sentence
    assert list(tmp_path.iterdir()) == []


def test_no_gpu(gpu_eval: Command, tmp_path: Path) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    answer = gpu_eval("run", "--output", tmp_path / "matrix", "--device", "cuda")
    assert (answer.code, answer.out) == (2, "")
    assert answer.sentence
    assert not (tmp_path / "matrix").exists()


def test_occupied_directories(gpu_eval: Command, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    answer = gpu_eval("run", "--output", tmp_path, "--problem", "level1/019")
    assert (answer.code, answer.out) == (2, "")
    assert "is not empty (it holds notes.txt)" in answer.sentence
    file = tmp_path / "notes.txt"
    assert "is a file" in gpu_eval("run", "--output", file).sentence
    below = gpu_eval("run", "--output", file / "matrix", "--problem", "level1/019")
    assert "cannot be made" in below.sentence


def test_a_matrix_that_is_damaged(gpu_eval: Command, tmp_path: Path) -> None:
    (tmp_path / "matrix.json").write_text("{")
    answer = gpu_eval("witness", tmp_path)
    assert answer.code == 2
    assert "is damaged" in answer.sentence


def test_an_incomplete_matrix_without_its_campaign(gpu_eval: Command, tmp_path: Path) -> None:
    MatrixWriter(tmp_path, {"tool": "test", "ratios": []}).finish(False)
    answer = gpu_eval("resume", tmp_path)
    assert answer.code == 2
    assert "incomplete matrix" in answer.sentence


def test_a_wrong_definition_is_named_with_its_line(gpu_eval: Command, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus" / "one"
    corpus.mkdir(parents=True)
    (corpus / "problem.py").write_text("import torch\n\nPROBLEM = 1 / 0\n")
    output = tmp_path / "matrix"
    answer = gpu_eval("run", "--corpus", tmp_path / "corpus", "--output", output)
    assert answer.code == 2
    assert f"{corpus / 'problem.py'}:3: " in answer.sentence
    assert not output.exists()
