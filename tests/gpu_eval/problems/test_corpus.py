"""The built-in problems: contracts, references, and torch controls against fp64."""

import ctypes
import math
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import nn

from gpu_eval.problems.definition import Problem, Tensors
from gpu_eval.problems.loader import INCLUDE, Corpus, all_substrates, sources
from gpu_eval.problems.tensors import (
    contract,
    dimensions,
    floors,
    reduction_length,
    shape_of,
    smallest_sizes,
)
from suiteopt.matrix.schema import Statistic

IDS = ["level1/001", "level1/019", "level1/023", "level1/040", "level1/042", "level1/050"]

ODD_SIZES = {
    "level1/001": [{"n": n} for n in (1, 2, 31, 33, 47)],
    "level1/019": [{"rows": 1, "cols": 1}, {"rows": 3, "cols": 341}, {"rows": 5, "cols": 257}],
    "level1/023": [{"rows": 1, "cols": 1}, {"rows": 3, "cols": 127}, {"rows": 7, "cols": 131}],
    "level1/040": [
        {"batch": 1, "features": 1, "dim1": 1, "dim2": 1},
        {"batch": 3, "features": 2, "dim1": 3, "dim2": 43},
        {"batch": 2, "features": 1, "dim1": 1, "dim2": 127},
    ],
    "level1/042": [
        {"batch": 1, "channels": 1, "height": 2, "width": 2},
        {"batch": 2, "channels": 3, "height": 17, "width": 31},
    ],
    "level1/050": [
        {"batch": 1, "in_channels": 3, "height": 7, "width": 7, "out_channels": 1, "kernel": 11},
        {"batch": 2, "in_channels": 3, "height": 23, "width": 41, "out_channels": 5, "kernel": 11},
    ],
}


def draw(
    problem: Problem, values: dict[str, int], how: str, seed: int = 7
) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    tensors: dict[str, torch.Tensor] = {}
    for spec in (*problem.inputs, *problem.parameters):
        shape = shape_of(spec, values)
        x = torch.randn(shape, generator=generator)
        match how:
            case "uniform":
                x = torch.rand(shape, generator=generator)
            case "offset":
                x = 100 + x
            case "wide":
                x = x * 30
        tensors[spec.name] = x
    return tensors


def shapes_of(problem: Problem) -> Iterator[dict[str, int]]:
    yield dimensions(problem, smallest_sizes(problem))
    for sizes in ODD_SIZES[problem.id]:
        yield dimensions(problem, sizes)


def error(output: torch.Tensor, truth: torch.Tensor) -> float:
    difference = float((output.double() - truth).abs().max())
    scale = float(truth.square().mean().sqrt())
    return 0.0 if difference == 0 else (difference / scale if scale else math.inf)


def test_contracts_are_the_benchmarks(corpus: Corpus) -> None:
    expected = {
        "level1/001": ({"a": (4096, 4096), "b": (4096, 4096), "c": (4096, 4096)}, 4096),
        "level1/019": ({"x": (4096, 393216), "y": (4096, 393216)}, 1),
        "level1/023": ({"x": (4096, 393216), "y": (4096, 393216)}, 393216),
        "level1/040": (
            {
                "x": (16, 64, 256, 256),
                "weight": (64, 256, 256),
                "bias": (64, 256, 256),
                "y": (16, 64, 256, 256),
            },
            64 * 256 * 256,
        ),
        "level1/042": ({"x": (32, 64, 512, 512), "y": (32, 64, 511, 511)}, 1),
        "level1/050": (
            {
                "x": (256, 3, 224, 224),
                "weight": (96, 3, 11, 11),
                "bias": (96,),
                "y": (256, 96, 55, 55),
            },
            363,
        ),
    }
    found = {}
    for problem in map(corpus.problem, IDS):
        values = contract(problem)
        specs = (*problem.inputs, *problem.parameters, *problem.outputs)
        shapes = {spec.name: shape_of(spec, values) for spec in specs}
        found[problem.id] = (shapes, reduction_length(problem, values))
    assert found == expected


def test_references_are_the_benchmarks_modules(corpus: Corpus) -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 3, 19, 23)
    pooled = corpus.problem("level1/042").reference({"x": x})["y"]
    assert torch.equal(pooled, nn.MaxPool2d(4, stride=1, padding=1, dilation=1)(x))
    norm = nn.LayerNorm((3, 19, 23))
    given = {"x": x, "weight": norm.weight, "bias": norm.bias}
    assert torch.equal(corpus.problem("level1/040").reference(given)["y"], norm(x))
    conv = nn.Conv2d(3, 96, 11, stride=4, padding=2)
    given = {"x": x, "weight": conv.weight, "bias": conv.bias}
    assert torch.equal(corpus.problem("level1/050").reference(given)["y"], conv(x))
    rows = x.flatten(1)
    assert torch.equal(corpus.problem("level1/023").reference({"x": rows})["y"], rows.softmax(1))
    assert torch.equal(corpus.problem("level1/019").reference({"x": rows})["y"], rows.relu())
    square = torch.randn(5, 5)
    product = corpus.problem("level1/001").reference({"a": square, "b": square.t()})["c"]
    assert torch.equal(product, square @ square.t())


def test_parameters_are_drawn_as_the_benchmarks_model_draws_them(corpus: Corpus) -> None:
    problem = corpus.problem("level1/050")
    shapes = {s.name: shape_of(s, contract(problem)) for s in problem.parameters}
    assert problem.initialise is not None
    torch.manual_seed(42)
    drawn = problem.initialise(shapes)
    after = torch.rand(1)
    torch.manual_seed(42)
    layer = nn.Conv2d(3, 96, kernel_size=11, stride=4, padding=2)
    assert layer.bias is not None
    assert torch.equal(drawn["weight"], layer.weight)
    assert torch.equal(drawn["bias"], layer.bias)
    assert torch.equal(after, torch.rand(1)), "nothing else was drawn"
    assert not drawn["weight"].requires_grad
    norm = corpus.problem("level1/040")
    assert norm.initialise is not None
    drawn = norm.initialise({"weight": (2, 3), "bias": (2, 3)})
    assert torch.equal(drawn["weight"], torch.ones(2, 3))
    assert torch.equal(drawn["bias"], torch.zeros(2, 3))


@pytest.mark.parametrize("how", ["uniform", "normal", "offset", "wide"])
@pytest.mark.parametrize("identifier", IDS)
def test_torch_controls_are_right(corpus: Corpus, identifier: str, how: str) -> None:
    problem = corpus.problem(identifier)
    (name,) = (spec.name for spec in problem.outputs)
    for values in shapes_of(problem):
        tensors = draw(problem, values, how)
        before = {n: t.clone() for n, t in tensors.items()}
        reference = problem.reference(tensors)
        truth = problem.reference({n: t.double() for n, t in tensors.items()})[name]
        length = reduction_length(problem, values)
        floor = floors(problem, tensors, reference, length, False)[Statistic.RMS]
        allowed = 8 * max(error(reference[name], truth), floor)
        for control in problem.controls:
            if control.run is None:
                continue
            output = control.run(tensors)[name]
            assert output.shape == truth.shape, control.name
            assert output.dtype == torch.float32, control.name
            assert error(output, truth) <= allowed, (control.name, values)
        assert all(torch.equal(tensors[n], before[n]) for n in tensors), "inputs were written to"


@pytest.mark.parametrize("identifier", ["level1/001", "level1/050"])
def test_integer_inputs_make_every_order_exact(corpus: Corpus, identifier: str) -> None:
    problem = corpus.problem(identifier)
    values = dimensions(problem, smallest_sizes(problem))
    (name,) = (spec.name for spec in problem.outputs)
    tensors = {n: (t * 3).round() for n, t in draw(problem, values, "normal").items()}
    truth = problem.reference({n: t.double() for n, t in tensors.items()})[name]
    assert truth.abs().max() > 10
    for control in problem.controls:
        if control.run is not None:
            assert torch.equal(control.run(tensors)[name].double(), truth), control.name


@pytest.mark.parametrize("identifier", IDS)
def test_controls_round_differently_unless_they_say_so(corpus: Corpus, identifier: str) -> None:
    problem = corpus.problem(identifier)
    values = dimensions(
        problem, {**smallest_sizes(problem), **({"rows": 16} if identifier == "level1/023" else {})}
    )
    (name,) = (spec.name for spec in problem.outputs)
    tensors = draw(problem, values, "normal")
    reference = problem.reference(tensors)[name]
    different = 0
    for control in problem.controls:
        if control.run is None:
            continue
        same = torch.equal(control.run(tensors)[name], reference)
        if control.identical:
            assert same, control.name
        different += not same
    assert different >= 6 if problem.rounds else different == 0


SPECIAL = torch.tensor([math.nan, math.inf, -math.inf, 0.0, -0.0, 1e-42, 3.4e38, -3.4e38])


@pytest.mark.parametrize("identifier", ["level1/019", "level1/042"])
def test_controls_that_do_not_round_keep_special_values(corpus: Corpus, identifier: str) -> None:
    problem = corpus.problem(identifier)
    values = dimensions(problem, ODD_SIZES[identifier][1])
    tensors = draw(problem, values, "normal")
    flat = tensors["x"].view(-1)
    for k, value in enumerate(SPECIAL):
        flat[(37 * k + 5) % flat.numel()] = value
    reference = problem.reference(tensors)["y"]
    assert reference.isnan().any()
    for control in problem.controls:
        if control.run is not None:
            output = control.run(tensors)["y"]
            assert torch.equal(output.isnan(), reference.isnan()), control.name
            assert torch.equal(output.nan_to_num(9.0), reference.nan_to_num(9.0)), control.name


def test_magnitudes_bound_the_outputs(corpus: Corpus) -> None:
    for problem in map(corpus.problem, IDS):
        if problem.magnitude is None:
            continue
        values = dimensions(problem, smallest_sizes(problem))
        tensors: Tensors = {n: t.double() for n, t in draw(problem, values, "normal").items()}
        truth, magnitude = problem.reference(tensors), problem.magnitude(tensors)
        for name, output in truth.items():
            assert (magnitude[name] >= output.abs() * (1 - 1e-12)).all()


def test_a_blind_control_for_every_twenty_problems(corpus: Corpus) -> None:
    blind = [p.id for p in corpus.problems.values() for c in p.controls if c.blind]
    # Level 2 has none yet: they are drawn when all of its problems are there.
    assert len(blind) == len(set(blind)) >= sum(p.level == 1 for p in corpus.problems.values()) / 20


def test_most_problems_have_two_substrates(corpus: Corpus) -> None:
    assert sum(len(p.substrates) >= 2 for p in corpus.problems.values()) >= 98


def test_blocks_have_128_or_256_threads_and_demo_grids_several_blocks(corpus: Corpus) -> None:
    from gpu_eval.campaign.shapes import PROFILES, plan_shape

    for problem in map(corpus.problem, IDS):
        values = plan_shape(problem, PROFILES["demo"].limits).dimensions
        for substrate in problem.substrates:
            for launch in substrate.plan.resolve(values, problem.scalars).launches:
                assert math.prod(launch.block) in (128, 256), (problem.id, launch.kernel)
                assert math.prod(launch.grid) > 1, (problem.id, launch.kernel)


def test_shrunk_dimensions_keep_the_tails_of_every_grid(corpus: Corpus) -> None:
    # A tail is what is left of a dimension after whole blocks: the same at every congruent size.
    for identifier, names, tile in [
        ("level1/042", ("out_height", "out_width"), 16),
        ("level1/050", ("out_width",), 16),
        ("level1/001", ("n",), 32),
        ("level1/023", ("cols",), 128),
        ("level1/040", ("normalised",), 256),
    ]:
        problem = corpus.problem(identifier)
        full, small = contract(problem), dimensions(problem, smallest_sizes(problem))
        for name in names:
            assert full[name] % tile == small[name] % tile, (identifier, name)
    conv = corpus.problem("level1/050")
    full, small = contract(conv), dimensions(conv, smallest_sizes(conv))
    pixels = [v["out_height"] * v["out_width"] % 16 for v in (full, small)]
    assert pixels == [1, 1]


def nvrtc() -> ctypes.CDLL | None:
    try:
        import nvidia
    except ImportError:
        return None
    for root in map(Path, nvidia.__path__):
        libraries = sorted(root.rglob("libnvrtc*.so*"))
        builtins = [p for p in libraries if "builtins" in p.name]
        main = [p for p in libraries if "builtins" not in p.name and "alt" not in p.name]
        if builtins and main:
            ctypes.CDLL(str(builtins[0]), mode=ctypes.RTLD_GLOBAL)
            return ctypes.CDLL(str(main[0]))
    return None


def compile_log(library: ctypes.CDLL, name: str, text: str, architecture: str) -> tuple[int, str]:
    program = ctypes.c_void_p()
    assert (
        library.nvrtcCreateProgram(
            ctypes.byref(program), text.encode(), name.encode(), 0, None, None
        )
        == 0
    )
    options = [f"--gpu-architecture={architecture}".encode(), f"-I{INCLUDE}".encode()]
    status = library.nvrtcCompileProgram(
        program, len(options), (ctypes.c_char_p * len(options))(*options)
    )
    size = ctypes.c_size_t()
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return status, log.value.decode()


@pytest.mark.parametrize("identifier", IDS)
def test_kernels_compile_for_gpus_without_a_warning(corpus: Corpus, identifier: str) -> None:
    library = nvrtc()
    if library is None:
        pytest.skip("nvidia-cuda-nvrtc is not installed")
    problem = corpus.problem(identifier)
    for substrate in all_substrates(problem):
        text = sources(problem, substrate)[substrate.source]
        for architecture in ("sm_80", "sm_100"):
            status, log = compile_log(library, substrate.source, text, architecture)
            assert (status, log) == (0, ""), (substrate.source, architecture)
