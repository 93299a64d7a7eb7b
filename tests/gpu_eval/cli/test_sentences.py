"""Bad input: one sentence, exit code 2, nothing on standard output, nothing left behind."""

from pathlib import Path

import pytest

from gpu_eval.problems.scaffold import new_problem
from suiteopt.matrix.writer import MatrixWriter
from tests.command import Command


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
        (("corpus", "check", "LEVEL1/019"), "did you mean level1/019"),
        (("corpus", "check", ""), "'gpu-eval corpus list' names all "),
        (("corpus", "check", "--corpus", "nowhere"), "nowhere is no directory"),
        (("run", "--output", "OUT", "--dry-run", "--device", "tpu"), "unknown device 'tpu'"),
        (("run", "--output", "OUT", "--dry-run", "--problem", "x"), "no problem 'x'"),
        (("run", "--output", "OUT", "--dry-run", "--level", "9"), "no problem of level 9"),
        (
            ("run", "--output", "OUT", "--dry-run", "--level", "2", "--problem", "level2/001"),
            "either problems or levels",
        ),
        (("corpus", "list", "--level", "9"), "levels here: 1, 2"),
        (("corpus", "check", "level1/019", "--level", "1"), "--level alone"),
        (("mutants", "list", "--level", "1", "--problem", "level1/019"), "not both"),
        (("run", "--output", "OUT", "--dry-run", "--scheduler", "local:0"), "'local:0' is no"),
        (("run", "--output", "OUT", "--dry-run", "--scheduler", "local:x"), "'local:x' is no"),
        (("run", "--output", "OUT", "--dry-run", "--scheduler", "one two"), "is no address of"),
        (("run", "--output", "OUT", "--scheduler", "nonsense"), "'nonsense' is no address of"),
        (("mutants", "list", "--problem", "level1/019", "--profile", "x"), "no profile 'x'"),
        (("mutants", "list", "--problem", "level1/019", "--device", "tpu"), "device 'tpu'"),
        (("mutants", "show", "level1/019:substrate:scalar"), "no mutant 'level1/019:substrate"),
        (("mutants", "show", "level1/019:relu.cu:no:1"), "no mutant 'level1/019:relu.cu:no:1'"),
        (("mutants", "list", "--problem", "x"), "no problem 'x'"),
        (("replay", "suite.json", "--output", "OUT"), "no suite file suite.json"),
        (("confirm", "suite.json", "--output", "OUT"), "no suite file suite.json"),
        (("merge", "a", "b", "--output", "OUT"), "a is no directory"),
        (("merge", "a", "--output", "OUT"), "at least two"),
        (("assemble", "a", "--output", "OUT"), "a holds no campaign"),
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


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ('id="user/mine"', 'id=".."', "the id '..' is not made of letters"),
        ('id="user/mine"', 'id="user/./x"', "the id 'user/./x' is not made of letters"),
        ('id="user/mine"', "id=None", "the id None is not made of letters"),
        ("OperationClass.NORMALIZATION", '"norm"', "it must be a member of OperationClass"),
        ('"rows", 4096', '"rows", "4096"', "size of a Dimension is '4096'; it must be an integer"),
        ('"rows", 4096', '"rows", True', "size of a Dimension is True; it must be an integer"),
        ("level=0", 'level="0"', "level of the problem is '0'; it must be an integer"),
        ("substrates=(KERNEL,)", "substrates=KERNEL", "'substrates' is Substrate("),
        ("substrates=(KERNEL,)", "substrates=(None,)", "give one Substrate(...) each"),
    ],
)
def test_wrong_types_in_a_definition(
    gpu_eval: Command, tmp_path: Path, before: str, after: str, expected: str
) -> None:
    file = new_problem("mine", tmp_path / "corpus") / "problem.py"
    text = file.read_text("utf-8")
    assert before in text
    file.write_text(text.replace(before, after), "utf-8")
    output = tmp_path / "matrix"
    for command in (("run", "--output", output), ("corpus", "check"), ("mutants", "list")):
        answer = gpu_eval(*command, "--corpus", tmp_path / "corpus")
        assert (answer.code, answer.out) == (2, "")
        assert expected in answer.sentence
        assert f"{file}:" in answer.sentence
        assert not output.exists()


@pytest.mark.parametrize("damage", ["directory", "bytes", "dangling"])
def test_sources_that_cannot_be_read(gpu_eval: Command, tmp_path: Path, damage: str) -> None:
    kernel = new_problem("mine", tmp_path) / "kernel.cu"
    kernel.unlink()
    if damage == "directory":
        kernel.mkdir()
    elif damage == "bytes":
        kernel.write_bytes(b"\xff\xfe")
    else:
        kernel.symlink_to("nowhere")
    for command in (("corpus", "check"), ("mutants", "list", "--problem")):
        answer = gpu_eval(*command, "user/mine", "--corpus", tmp_path)
        assert (answer.code, answer.out) == (2, "")
        assert "kernel.cu" in answer.sentence


def test_faults_of_a_kernel_that_does_not_compile(gpu_eval: Command, tmp_path: Path) -> None:
    kernel = new_problem("mine", tmp_path) / "kernel.cu"
    kernel.write_text(kernel.read_text("utf-8").replace("float sum = 0.0f", "float sum = none"))
    listed = ("mutants", "list", "--problem", "user/mine", "--corpus", tmp_path)
    answer = gpu_eval(*listed, "--compile", "--device", "cpu")
    assert (answer.code, answer.out) == (2, "")
    assert "user/mine: 'tree' does not compile" in answer.sentence
    assert gpu_eval(*listed, "--no-compile").code == 0


def test_faults_of_a_kernel_that_cannot_be_parsed(gpu_eval: Command, tmp_path: Path) -> None:
    kernel = new_problem("mine", tmp_path) / "kernel.cu"
    kernel.write_text(kernel.read_text("utf-8") + "int (\n")
    for command in (("list", "--problem", "user/mine"), ("show", "user/mine:kernel.cu:lt-to-le:1")):
        answer = gpu_eval("mutants", *command, "--corpus", tmp_path)
        assert (answer.code, answer.out) == (2, "")
        assert answer.sentence.startswith("problem user/mine: kernel.cu:22:")


def test_a_problem_named_twice_counts_once(gpu_eval: Command) -> None:
    once = gpu_eval("mutants", "list", "--problem", "level1/019", "--json").json
    twice = gpu_eval("mutants", "list", *2 * ("--problem", "level1/019"), "--json").json
    assert twice == once
    assert once["problems"] == 1


def test_a_wrong_definition_is_named_with_its_line(gpu_eval: Command, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus" / "one"
    corpus.mkdir(parents=True)
    (corpus / "problem.py").write_text("import torch\n\nPROBLEM = 1 / 0\n")
    output = tmp_path / "matrix"
    answer = gpu_eval("run", "--corpus", tmp_path / "corpus", "--output", output)
    assert answer.code == 2
    assert f"{corpus / 'problem.py'}:3: " in answer.sentence
    assert not output.exists()
