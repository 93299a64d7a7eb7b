import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gpu_eval.problems.definition import Problem
from gpu_eval.problems.loader import Corpus, load_problem
from gpu_eval.problems.scaffold import new_problem
from gpu_eval.problems.validate import validate
from suiteopt.errors import UserError

Edit = Callable[..., Problem]

IDS = ["level1/001", "level1/019", "level1/023", "level1/040", "level1/042", "level1/050"]


@pytest.mark.parametrize("identifier", IDS)
def test_built_in_problems_are_valid(corpus: Corpus, identifier: str) -> None:
    validate(corpus.problem(identifier))


def refusal(problem: Problem) -> tuple[str, int, str]:
    """Validate, and return file name, line and reason of the refusal."""
    with pytest.raises(UserError) as caught:
        validate(problem)
    found = re.match(r"(?:.*/)?([^/:]+):(\d+):(?:\d+:)? (.*)", str(caught.value))
    assert found is not None, str(caught.value)
    return found[1], int(found[2]), found[3]


def line_of(problem: Problem, text: str, file: str = "problem.py") -> int:
    """Return the line on which a text stands first."""
    lines = (problem.directory / file).read_text("utf-8").splitlines()
    return next(number for number, line in enumerate(lines, start=1) if text in line)


DEFINITION_EDITS = [
    # names
    ('TensorSpec("y", ("rows", "cols"))', 'TensorSpec("x", ("rows", "cols", "1"))',
     'TensorSpec("x", ("rows", "cols", "1"))', "tensor 'x' is defined 2 times"),
    ('Dimension("cols", 1000', 'Dimension("rows", 1000', 'Dimension("rows", 1000',
     "dimension, derived size or scalar 'rows' is defined 2 times"),
    ('Control("eager", "eager"', 'Control("serial", "eager"', '"serial", "eager"',
     "substrate or control 'serial' is defined 2 times"),
    ('TensorSpec("y", ("rows", "cols"))', 'TensorSpec("the y", ("rows",))', '"the y"',
     "'the y' is not an identifier"),
    ("substrates=(KERNEL,)", "substrates=()", "user/mine", "has no substrate"),
    # dtypes
    ('TensorSpec("x", ("rows", "cols"))', 'TensorSpec("x", ("rows", "cols"), dtype="float16")',
     'TensorSpec("x"', "input 'x' is float16; recipes make tensors of structure 'none' float32"),
    ('TensorSpec("y", ("rows", "cols"))', 'TensorSpec("y", ("rows", "cols"), dtype="long")',
     'TensorSpec("y"', "output 'y' is long; float32, int32 and int64 can be judged"),
    ('TensorSpec("y", ("rows", "cols")),',
     'TensorSpec("y", ("rows", "cols")), TensorSpec("at", ("rows",), dtype="int64"),',
     'TensorSpec("at"', "output 'y' holds floats and 'at' integers, which cannot be judged "
     "together; make two problems of it"),
    # sizes and expressions
    ("tile=128", "tile=0", '"cols", 1000', "dimension 'cols' has size 1000, minimum 1, tile 0"),
    ('reduction_length="cols"', 'reduction_length="columns"', '"columns"',
     "expression 'columns': unknown name 'columns'; known: cols, rows"),
    ('TensorSpec("y", ("rows", "cols"))', 'TensorSpec("y", ("rows ** 2",))', '"rows ** 2"',
     "expression 'rows ** 2': 'rows ** 2' is not allowed"),
    ('TensorSpec("y", ("rows", "cols"))', 'TensorSpec("y", ("rows - 4096",))', '"rows - 4096"',
     "tensor 'y' has the shape (0,)"),
    # launch expressions outside the whitelist
    ('grid=("rows", "1", "1")', 'grid=("__import__(\'os\')", "1", "1")', "__import__",
     "is not allowed"),
    ('grid=("rows", "1", "1")', 'grid=("rows / 2", "1", "1")', '"rows / 2"',
     "expression 'rows / 2': 'rows / 2' is not allowed"),
    ('shared="4 * 128"', 'shared="4 * threads"', '"4 * threads"', "unknown name 'threads'"),
    ('int32("cols")', 'int32("cols if cols else 1")', '"cols if cols else 1"', "is not allowed"),
    ('grid=("rows", "1", "1")', 'grid=("rows // (cols - cols)", "1", "1")', '"rows // (cols',
     "division by zero"),
    # launch limits
    ('block=("128", "1", "1")', 'block=("2048", "1", "1")', '"rms_norm"',
     "'rms_norm' has a block of (2048, 1, 1) threads"),
    ('grid=("rows", "1", "1")', 'grid=("1", "rows * 100", "1")', '"rms_norm"',
     "'rms_norm' has a grid of (1, 409600, 1) blocks"),
    ('grid=("rows", "1", "1")', 'grid=("rows // 4096", "1", "1")', '"rms_norm"',
     "'rms_norm' has a grid of (0, 1, 1) blocks"),
    ('shared="4 * 128"', 'shared="4 * 128 * 1024"', '"rms_norm"',
     "'rms_norm' asks for 524288 bytes of dynamic shared memory"),
    ('int32("cols")', 'int32("cols * rows * 4096")', '"rms_norm"', "use int64"),
    # kernels and arguments
    ('kernel="rms_norm"', 'kernel="row_cubes"', '"row_cubes"',
     "substrate 'tree' launches 'row_cubes', which kernel.cu and its headers do not define "
     "(found: rms_norm)"),
    ('pointer("y"), int32("cols"), float32("eps")', 'pointer("y"), float32("eps")',
     '"rms_norm"', "'rms_norm' is launched with 3 arguments and takes 4"),
    ('float32("eps")', 'float32("epsilon")', '"epsilon"',
     "'epsilon' is neither a number nor a named scalar"),
    ('float32("eps")', 'float32("1 / cols / 2")', '"1 / cols / 2"', "at most one division"),
    ('float32("eps")', 'float32("eps * 2")', '"eps * 2"', "neither a number nor a named scalar"),
    ('pointer("y"), int32("cols")', 'int32("cols"), pointer("y")', '"cols"',
     "argument 2 of 'rms_norm' is a int32 ('cols'), but the kernel takes"),
    ('int32("cols")', 'int64("cols")', '"cols"', "argument 3 of 'rms_norm' is a int64"),
    ('pointer("x"), pointer("y")', 'pointer("z"), pointer("y")', '"z"',
     "pointer 'z' names no tensor and no workspace; known: x, y"),
    ('pointer("x"), pointer("y")', 'pointer("x"), pointer("x")', '"tree"',
     "substrate 'tree' passes the output 'y' to no kernel"),
    ('source="kernel.cu"', 'source="other.cu"', '"other.cu"',
     "no source file 'other.cu'"),
    ('source="kernel.cu"', 'source="README.md"', '"README.md"', "'README.md' is not a .cu file"),
    ('headers=("tree_reduce.cuh",)', 'headers=("tree_deduce.cuh",)', '"tree_deduce.cuh"',
     "no source file 'tree_deduce.cuh'"),
    # shapes that do not fit
    ('TensorSpec("y", ("rows", "cols"))', 'TensorSpec("y", ("rows", "1"))', 'TensorSpec("y"',
     "the reference gives the outputs {'y': (1, 104)} at rows = 1, cols = 104; "
     "declared: {'y': (1, 1)}"),
    ('{"y": x / torch.sqrt', '{"z": x / torch.sqrt',
     'TensorSpec("y"', "the reference gives the outputs {'z': (1, 104)}"),
    ("square().mean(dim=1", "square().mean(dim=2", "square().mean(dim=2",
     "the reference fails with IndexError"),
    ('return {"y": x / torch.sqrt(x.square().mean(dim=1, keepdim=True) + EPS)}',
     'return {"y": x.float()}', 'TensorSpec("y"',
     "the reference in fp64 gives 'y' as torch.float32 on inputs of torch.float64"),
    ('return {"y": x * torch.rsqrt(mean + EPS)[:, None]}',
     'return {"y": x * torch.rsqrt(mean + EPS)[:, None, None]}', 'TensorSpec("y"',
     "control 'serial' gives the outputs"),
    ('return {"y": x / torch.sqrt(x.square().mean(dim=1, keepdim=True) + EPS)}', "return x",
     "def reference", "the reference does not return a mapping of names to tensors"),
    # controls
    ("*ordered_controls(in_order),", "", "PROBLEM =",
     "has 0 kinds of controls that neither are blind nor equal the reference (none); "
     "at least 3 are needed"),
    ("*ordered_controls(in_order),", "*ordered_controls(in_order)[:4],", "PROBLEM =",
     "reduces and has 4 controls that neither are blind nor equal the reference; at least 6"),
    ("*ordered_controls(in_order),", "*ordered_controls(in_order)[1:],", "PROBLEM =",
     "reduces and has no control of kind 'serial'"),
    ('Control("eager", "eager", run=reference, identical=True)', 'Control("eager", "eager")',
     '"eager"', "control 'eager' needs either a torch callable or a substrate"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "where", "reason"),
    DEFINITION_EDITS,
    ids=[e[3][:50] for e in DEFINITION_EDITS],
)
def test_wrong_definitions_are_refused(
    edited: Edit, before: str, after: str, where: str, reason: str
) -> None:
    imports = ("import Launch, LaunchPlan, float32, int32, pointer", "import *  # noqa")
    problem = edited((before, after), imports)
    file, line, said = refusal(problem)
    assert file == "problem.py"
    assert reason in said
    assert "user/mine" in said
    assert line == line_of(problem, where)


KERNEL_EDITS = [
    ("sum += row_in[i] * row_in[i];", "sum += row_in[i] * ;", 13, "the CUDA grammar cannot read"),
    ("* scale;", "* scale", 19, "the CUDA grammar cannot read"),
    ('#include "tree_reduce.cuh"', '#include "tree_reduce.cuh"\n#include "welford.cuh"', 4,
     "includes \"welford.cuh\", which is not among the headers of substrate 'tree'"),
    ("__global__ void rms_norm", "template <int N>\n__global__ void rms_norm", 6,
     "kernel 'rms_norm' is a template"),
    ("* scale;\n    }\n}", "* scale;\n    }\n}\n"
     "__global__ void rms_norm(float* y) { y[0] = 0.0f; }", 22,
     "kernel 'rms_norm' is defined twice"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "line", "reason"), KERNEL_EDITS)
def test_wrong_sources_are_refused_where_they_are_wrong(
    edited: Edit, before: str, after: str, line: int, reason: str
) -> None:
    file, found, said = refusal(edited((before, after), file="kernel.cu"))
    assert (file, found) == ("kernel.cu", line)
    assert reason in said


@pytest.mark.parametrize(
    ("parameter", "said"),
    [
        ("double cols", "a int32 ('cols'), but the kernel takes 'double cols' (kernel.cu:5)"),
        ("float cols", "a int32 ('cols'), but the kernel takes 'float cols'"),
        ("int* cols", "a int32 ('cols'), but the kernel takes 'int* cols'"),
        ("long long cols", "a int32 ('cols'), but the kernel takes 'long long cols'"),
    ],
)
def test_argument_types_against_the_signature(edited: Edit, parameter: str, said: str) -> None:
    problem = edited(("int cols", parameter), file="kernel.cu")
    file, line, reason = refusal(problem)
    assert (file, line) == ("problem.py", line_of(problem, '"cols"'))
    assert said in reason


def test_controls_kernels_are_checked_too(edited: Edit) -> None:
    problem = edited(
        (
            'Control("eager", "eager", run=reference, identical=True)',
            'Control("cuda", "tile", substrate=Substrate("other", "absent.cu", KERNEL.plan))',
        )
    )
    _, line, said = refusal(problem)
    assert "no source file 'absent.cu'" in said
    assert line == line_of(problem, "absent.cu")


def test_two_kinds_are_too_few_where_nothing_is_reduced(corpus: Corpus) -> None:
    relu = corpus.problem("level1/019")
    _, _, said = refusal(replace(relu, controls=relu.controls[:2]))
    assert "has 2 kinds of controls (not blind) (clamp, select)" in said


def test_blind_and_identical_controls_do_not_count(corpus: Corpus) -> None:
    norm = corpus.problem("level1/040")
    blind = tuple(replace(c, blind=c.kind != "chunked") for c in norm.controls)
    _, _, said = refusal(replace(norm, controls=blind))
    assert "has 1 kinds of controls" in said


def test_parameters_must_be_initialised_as_declared(corpus: Corpus) -> None:
    conv = corpus.problem("level1/050")
    _, _, said = refusal(replace(conv, initialise=None))
    assert "has parameters and no 'initialise'" in said
    initialise = conv.initialise
    assert initialise is not None
    _, _, said = refusal(replace(conv, initialise=lambda s: {"weight": initialise(s)["weight"]}))
    assert "'initialise' gives the shapes {'weight': (24, 3, 11, 11)}" in said


def test_shapes_that_fit_only_when_small_are_refused(edited: Edit) -> None:
    # At the smallest congruent shape there is one row; at the contract's there are 4096.
    problem = edited(
        ('TensorSpec("y", ("rows", "cols"))', 'TensorSpec("y", ("min(rows, 2)", "cols"))')
    )
    _, _, said = refusal(problem)
    assert "{'y': (4096, 1000)} at rows = 4096, cols = 1000; declared: {'y': (2, 1000)}" in said


def test_validation_draws_nothing_from_the_global_generator(corpus: Corpus) -> None:
    import torch

    torch.manual_seed(1)
    before = torch.get_rng_state()
    validate(corpus.problem("level1/050"))
    assert torch.equal(torch.get_rng_state(), before)


def test_a_definition_that_moved_is_still_named(tmp_path: Path) -> None:
    directory = new_problem("mine", tmp_path)
    problem = load_problem(directory / "problem.py")
    (directory / "problem.py").unlink()
    file, line, said = refusal(replace(problem, controls=()))
    assert (file, line) == ("problem.py", 1)
    assert "has 0 kinds" in said
