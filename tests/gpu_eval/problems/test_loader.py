import shutil
from pathlib import Path

import pytest

from gpu_eval.problems.loader import (
    BUILT_IN,
    INCLUDE,
    Corpus,
    kernel_source,
    launched_kernels,
    load_corpus,
    load_problem,
    sources,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Repeat, When
from gpu_eval.problems.scaffold import new_problem
from suiteopt.errors import UserError


def write(directory: Path, text: str) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "problem.py"
    path.write_text(text, "utf-8")
    return path


def test_built_in_problems_by_their_ids(corpus: Corpus) -> None:
    listed = list(corpus.problems)
    assert listed[:100] == [f"level1/{number:03d}" for number in range(1, 101)]
    possible = {f"level2/{number:03d}" for number in range(1, 101)}
    assert set(listed[100:]) <= possible
    assert {"level2/001", "level2/012", "level2/030", "level2/078"} <= set(listed)
    for identifier, problem in corpus.problems.items():
        assert problem.name.startswith(f"{int(identifier[-3:])}_")
    some = {
        "level1/001": "1_Square_matrix_multiplication_",
        "level1/004": "4_Matrix_vector_multiplication_",
        "level1/019": "19_ReLU",
        "level1/023": "23_Softmax",
        "level1/026": "26_GELU_",
        "level1/036": "36_RMSNorm_",
        "level1/040": "40_LayerNorm",
        "level1/042": "42_Max_Pooling_2D",
        "level1/047": "47_Sum_reduction_over_a_dimension",
        "level1/050": "50_conv_standard_2D__square_input__square_kernel",
        "level1/051": "51_Argmax_over_a_dimension",
        "level1/089": "89_cumsum",
        "level1/094": "94_MSELoss",
        "level1/095": "95_CrossEntropyLoss",
    }
    assert {i: corpus.problems[i].name for i in some} == some


def test_unknown_problem_lists_the_known_ones(corpus: Corpus) -> None:
    with pytest.raises(
        UserError,
        match=r"no problem 'level1/102' in the corpus; 'gpu-eval corpus list' names all [12]\d\d",
    ):
        corpus.problem("level1/102")


def test_a_corpus_adds_and_replaces(tmp_path: Path) -> None:
    directory = new_problem("one", tmp_path)
    built_in = len(load_corpus().problems)
    added = load_corpus([tmp_path])
    assert len(added.problems) == built_in + 1
    assert added.problem("user/one").directory == directory
    text = (directory / "problem.py").read_text("utf-8")
    (directory / "problem.py").write_text(text.replace("user/one", "level1/019"), "utf-8")
    replaced = load_corpus([tmp_path])
    assert len(replaced.problems) == built_in
    assert replaced.problem("level1/019").name == "one"
    assert list(load_corpus([tmp_path], built_in=False).problems) == ["level1/019"]
    assert list(load_corpus([directory], built_in=False).problems) == ["level1/019"]


def test_sources_are_main_first_then_headers(corpus: Corpus) -> None:
    problem = corpus.problem("level1/023")
    files = sources(problem, problem.substrates[1])
    assert list(files) == ["three_pass.cu", "limits.cuh", "tree_reduce.cuh"]
    assert files["tree_reduce.cuh"] == (INCLUDE / "tree_reduce.cuh").read_text("utf-8")


def test_a_header_beside_the_definition_comes_first(tmp_path: Path) -> None:
    directory = new_problem("one", tmp_path)
    (directory / "tree_reduce.cuh").write_text("// mine\n", "utf-8")
    problem = load_problem(directory / "problem.py")
    assert sources(problem, problem.substrates[0])["tree_reduce.cuh"] == "// mine\n"


def test_kernel_source_names_unit_and_kernels(corpus: Corpus) -> None:
    problem = corpus.problem("level1/040")
    source = kernel_source(problem, problem.substrates[1], flags=("-x",))
    assert source.id == "level1/040:split-two-pass"
    assert source.main == "split_two_pass.cu"
    assert source.flags == ("-x",)
    assert source.kernels == (
        "layernorm_partial_sum",
        "layernorm_partial_square",
        "layernorm_normalise",
    )


def test_launched_kernels_are_found_in_conditions_and_loops() -> None:
    def launch(kernel: str) -> Launch:
        return Launch(kernel, ("1", "1", "1"), ("1", "1", "1"), ())

    plan = LaunchPlan(
        steps=(
            When("n > 1", (launch("a"),), (launch("b"),)),
            Repeat("i", "0", "n", (launch("c"), launch("a"))),
        )
    )
    assert launched_kernels(plan) == ("a", "b", "c")


def test_missing_source_says_where(tmp_path: Path) -> None:
    directory = new_problem("one", tmp_path)
    (directory / "kernel.cu").unlink()
    problem = load_problem(directory / "problem.py")
    with pytest.raises(UserError, match=r"one/kernel\.cu: no such source file"):
        sources(problem, problem.substrates[0])


def test_hash_depends_on_definitions_sources_and_headers_alone(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(BUILT_IN / "level1" / "p023_softmax", copy)
    shutil.copy(INCLUDE / "limits.cuh", copy)

    def digest() -> str:
        return load_corpus([copy], built_in=False).hash()

    first = digest()
    (copy / "notes.txt").write_text("nothing\n", "utf-8")
    assert digest() == first
    seen = {first}
    for name in ("problem.py", "online.cu", "limits.cuh"):
        path = copy / name
        path.write_text(path.read_text("utf-8") + "\n", "utf-8")
        seen.add(digest())
    assert len(seen) == 4
    (copy / "online.cu").unlink()
    with pytest.raises(UserError, match=r"online\.cu"):
        digest()


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("x = (1\n", 1, "not valid Python"),
        ("import math\n\nmath.sqrt(-1)\n", 3, "the definition fails with ValueError"),
        ("def f():\n    raise KeyError('a')\nf()\n", 2, "the definition fails with KeyError"),
        ("raise SystemExit(3)\n", 1, "the definition fails with SystemExit"),
        ("PROBLEM = 3\n", 1, "binds no PROBLEM"),
    ],
)
def test_errors_inside_a_definition(tmp_path: Path, text: str, line: int, reason: str) -> None:
    path = write(tmp_path / "p", text)
    with pytest.raises(UserError) as caught:
        load_corpus([tmp_path], built_in=False)
    assert str(caught.value).startswith(f"{path}:{line}: {reason}")


def test_missing_torch_names_the_extra(tmp_path: Path) -> None:
    path = write(tmp_path / "p", "raise ModuleNotFoundError('no torch', name='torch')\n")
    with pytest.raises(UserError, match=r"kernel-suiteopt\[eval\]"):
        load_problem(path)


def test_bad_ids_and_ids_twice(tmp_path: Path) -> None:
    first = new_problem("one", tmp_path)
    second = new_problem("two", tmp_path)
    path = second / "problem.py"
    text = path.read_text("utf-8")
    path.write_text(text.replace("user/two", "user/one"), "utf-8")
    with pytest.raises(UserError, match=r"two/problem\.py:1: the id 'user/one' is taken by .*one/"):
        load_corpus([tmp_path])
    path.write_text(text.replace("user/two", "../two"), "utf-8")
    assert load_problem(first / "problem.py").id == "user/one"
    path.write_text(text.replace("user/two", "user//two"), "utf-8")
    with pytest.raises(UserError, match="the id 'user//two'"):
        load_problem(path)


def test_no_corpus_where_there_is_none(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such directory"):
        load_corpus([tmp_path / "absent"])
    with pytest.raises(UserError, match=r"holds no problem\.py"):
        load_corpus([tmp_path])
