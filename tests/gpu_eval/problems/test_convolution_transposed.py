"""Transposed convolutions of level 1: contracts, references, torch controls, kernels."""

import math
import shutil
from pathlib import Path

import pytest
import torch
from torch import nn

from gpu_eval.campaign.shapes import PROFILES, plan_shape
from gpu_eval.devices.base import Device
from gpu_eval.devices.registry import open_device
from gpu_eval.problems.definition import DimensionKind, Problem
from gpu_eval.problems.loader import Corpus, all_substrates, sources
from gpu_eval.problems.tensors import (
    all_specs,
    contract,
    dimensions,
    floors,
    reduction_length,
    shape_of,
    smallest_sizes,
)
from gpu_eval.problems.validate import validate
from suiteopt.matrix.schema import Statistic, Status
from tests.gpu_eval.problems.level1_extension import case_of, draw, widened
from tests.gpu_eval.problems.test_corpus import compile_log, error, nvrtc
from tests.gpu_eval.problems.test_host import compiled

Shape = tuple[int, ...]

# Input, output, and how many products an output sums at most.
CONTRACTS: dict[str, tuple[Shape, Shape, int]] = {
    "057": ((8, 64, 1024, 1024), (8, 64, 1026, 1026), 64 * 9),
    "058": ((16, 32, 16, 32, 64), (16, 16, 18, 36, 70), 32 * 105),
    "061": ((8, 48, 64, 64, 64), (8, 48, 66, 66, 66), 48 * 27),
    "064": ((64, 128, 65536), (64, 128, 65538), 128 * 3),
    "065": ((8, 64, 512, 512), (8, 64, 514, 518), 64 * 21),
    "068": ((16, 32, 64, 64, 64), (16, 64, 66, 68, 68), 32 * 75),
    "069": ((64, 64, 128, 256), (64, 128, 130, 260), 64 * 15),
    "070": ((8, 48, 96, 96, 96), (8, 24, 98, 98, 98), 48 * 27),
    "071": ((8, 32, 512, 1024), (8, 32, 514, 1026), 32 * 9),
    "072": ((8, 32, 12, 24, 48), (8, 32, 24, 48, 96), 8 * 2 * 3 * 4),
    "073": ((4, 32, 32, 64, 128), (4, 32, 63, 127, 255), 32 * 8),
    "074": ((32, 32, 131072), (32, 64, 131084), 32 * 5),
    "075": ((16, 32, 128, 256), (16, 64, 257, 766), 8 * 3 * 2),
    "077": ((16, 32, 16, 32, 32), (16, 64, 33, 65, 65), 32 * 27),
    "078": ((8, 32, 512, 1024), (8, 32, 512, 1024), 32 * 21),
    "079": ((16, 32, 131072), (16, 64, 262145), 32 * 3),
    "081": ((16, 32, 64, 128), (16, 64, 318, 638), 32),
}
IDS = [f"level1/{number}" for number in CONTRACTS]

# More than one tile of outputs along each axis, where the usual odd extents are not.
ODD_EXTENTS: dict[str, Shape] = {
    "level1/058": (3, 5, 19),
    "level1/071": (7, 35),
    "level1/078": (9, 67),
    "level1/081": (3, 7),
}


def benchmark_module(number: str) -> nn.Module:
    """Return the layer with the arguments that the benchmark's constructor gives it."""
    match number:
        case "057":
            return nn.ConvTranspose2d(64, 64, 3, bias=False)
        case "058":
            return nn.ConvTranspose3d(32, 16, (3, 5, 7), bias=False)
        case "061":
            return nn.ConvTranspose3d(48, 48, (3, 3, 3), bias=False)
        case "064":
            return nn.ConvTranspose1d(128, 128, 3, bias=False)
        case "065":
            return nn.ConvTranspose2d(64, 64, (3, 7), bias=False)
        case "068":
            return nn.ConvTranspose3d(32, 64, (3, 5, 5), bias=False)
        case "069":
            return nn.ConvTranspose2d(64, 128, (3, 5), bias=False)
        case "070":
            return nn.ConvTranspose3d(48, 24, (3, 3, 3), bias=False)
        case "071":
            return nn.ConvTranspose2d(32, 32, 3, bias=False)
        case "072":
            return nn.ConvTranspose3d(
                32,
                32,
                (3, 5, 7),
                stride=(2, 2, 2),
                padding=(1, 2, 3),
                output_padding=(1, 1, 1),
                groups=4,
                bias=False,
            )
        case "073":  # The benchmark's 4 groups land on an argument that its model ignores.
            return nn.ConvTranspose3d(32, 32, (3, 3, 3), stride=2, padding=1, groups=1, bias=False)
        case "074":
            return nn.ConvTranspose1d(32, 64, 5, stride=1, padding=0, dilation=3, bias=False)
        case "075":
            return nn.ConvTranspose2d(
                32,
                64,
                (3, 5),
                stride=(2, 3),
                padding=(1, 2),
                dilation=(2, 1),
                groups=4,
                bias=False,
            )
        case "077":
            return nn.ConvTranspose3d(
                32, 64, (3, 3, 3), stride=2, padding=1, dilation=2, bias=False
            )
        case "078":
            return nn.ConvTranspose2d(32, 32, (3, 7), stride=(1, 1), padding=(1, 3), bias=False)
        case "079":
            return nn.ConvTranspose1d(32, 64, 3, stride=2, padding=1, dilation=2, bias=False)
        case "081":
            return nn.ConvTranspose2d(32, 64, 3, stride=5, padding=1, dilation=2, bias=False)
    raise KeyError(number)


def odd_shapes(problem: Problem) -> list[dict[str, int]]:
    """Return a shape of ones, and one that divides by no tile and has more than one of each."""
    fixed = {d.name: d.size for d in problem.dimensions if d.fixed}
    free = [d for d in problem.dimensions if not d.fixed]
    spatial = [s for s in problem.inputs[0].shape if s not in ("batch", "in_channels")]
    extents = ODD_EXTENTS.get(problem.id) or {1: (133,), 2: (5, 19), 3: (3, 5, 7)}[len(spatial)]
    odd = dict(zip(spatial, extents, strict=True)) | {"batch": 2}
    odd |= {d.name: 5 if d.kind is DimensionKind.REDUCED else 3 for d in free if d.name not in odd}
    return [
        dimensions(problem, fixed | {d.name: 1 for d in free}),
        dimensions(problem, fixed | odd),
    ]


def test_contracts_are_the_benchmarks(corpus: Corpus) -> None:
    found = {}
    for number in CONTRACTS:
        problem = corpus.problem(f"level1/{number}")
        values = contract(problem)
        shapes = [shape_of(s, values) for s in (*problem.inputs, *problem.outputs)]
        found[number] = (shapes[0], shapes[1], reduction_length(problem, values))
        # Nothing but x and the weight: the benchmark's layers have no bias.
        assert [s.name for s in all_specs(problem)] == ["x", "weight", "y"]
    assert found == CONTRACTS


@pytest.mark.parametrize("number", CONTRACTS)
def test_references_are_the_benchmarks_modules(corpus: Corpus, number: str) -> None:
    problem = corpus.problem(f"level1/{number}")
    torch.manual_seed(42)
    layer = benchmark_module(number)
    after = torch.rand(1)
    values = contract(problem)
    (weight,) = (shape_of(s, values) for s in problem.parameters)
    assert problem.initialise is not None
    torch.manual_seed(42)
    drawn = problem.initialise({"weight": weight})
    assert torch.equal(drawn["weight"], layer.get_parameter("weight"))
    assert torch.equal(after, torch.rand(1)), "nothing else was drawn"
    rank = len(weight) - 2
    x = torch.randn(2, CONTRACTS[number][0][1], *(4, 6, 5)[:rank], dtype=torch.float64)
    with torch.no_grad():
        expected = layer.double()(x)
    given = {"x": x, "weight": drawn["weight"].double()}
    assert torch.equal(problem.reference(given)["y"], expected)
    extents = dict(zip(problem.inputs[0].shape[2:], x.shape[2:], strict=True))
    small = dimensions(problem, values | extents | {"batch": 2})
    assert shape_of(problem.outputs[0], small) == expected.shape


@pytest.mark.parametrize("identifier", IDS)
def test_definitions_are_valid(corpus: Corpus, identifier: str) -> None:
    problem = corpus.problem(identifier)
    validate(problem)
    assert len(problem.substrates) == (1 if identifier == "level1/070" else 2)


@pytest.mark.parametrize("identifier", IDS)
def test_torch_controls_are_right(corpus: Corpus, identifier: str) -> None:
    problem = corpus.problem(identifier)
    for values in odd_shapes(problem):
        tensors = draw(problem, values, "normal")
        reference = problem.reference(tensors)
        truth = problem.reference(widened(tensors))["y"]
        length = reduction_length(problem, values)
        floor = floors(problem, tensors, reference, length, False)[Statistic.RMS]
        allowed = 8 * max(error(reference["y"], truth), floor)
        different = 0
        for control in problem.controls:
            if control.run is None:
                continue
            output = control.run(tensors)["y"]
            assert (output.shape, output.dtype) == (truth.shape, torch.float32), control.name
            assert error(output, truth) <= allowed, (control.name, values)
            same = torch.equal(output, reference["y"])
            assert same or not control.identical, control.name
            different += not same
        # At ones there is one product an output, or none.
        assert different >= 6 or values["batch"] == 1, different


@pytest.mark.parametrize("identifier", IDS)
def test_integer_inputs_make_every_order_exact(corpus: Corpus, identifier: str) -> None:
    problem = corpus.problem(identifier)
    _, values = odd_shapes(problem)
    tensors = draw(problem, values | {"batch": 1}, "integers")
    truth = problem.reference(widened(tensors))["y"]
    assert truth.abs().max() > 10
    for control in problem.controls:
        if control.run is not None:
            assert torch.equal(control.run(tensors)["y"].double(), truth), control.name


def test_outputs_between_taps_are_zero(corpus: Corpus) -> None:
    # Where stride and dilation share a factor, or taps lie apart, no product reaches an output.
    share = {}
    for number in ("075", "077", "079", "081"):
        problem = corpus.problem(f"level1/{number}")
        _, values = odd_shapes(problem)
        y = problem.reference(draw(problem, values, "normal"))["y"]
        share[number] = int((y == 0).sum()) * 1.0 / y.numel()
    # Odd coordinates only: rows of 5 in 11; voxels of 3 x 5 x 7 in 7 x 11 x 15; 133 in 267.
    assert share["075"] == pytest.approx(6 / 11)
    assert share["077"] == pytest.approx(1 - 3 * 5 * 7 / (7 * 11 * 15))
    assert share["079"] == pytest.approx(134 / 267)
    # Along an axis of 5 n - 2 outputs 3 n - 2: the first and the last tap fall into the padding.
    assert share["081"] == pytest.approx(1 - (3 * 3 - 2) * (3 * 7 - 2) / (13 * 33))


def test_magnitudes_bound_the_outputs(corpus: Corpus) -> None:
    for problem in map(corpus.problem, IDS):
        assert problem.magnitude is not None
        tensors = widened(draw(problem, odd_shapes(problem)[1], "normal"))
        magnitude, truth = problem.magnitude(tensors)["y"], problem.reference(tensors)["y"]
        assert (magnitude >= truth.abs() * (1 - 1e-12)).all()


def test_shapes_keep_the_reduction_where_they_can_and_the_tails(corpus: Corpus) -> None:
    for identifier in IDS:
        problem = corpus.problem(identifier)
        for profile in ("full", "contract"):
            planned = plan_shape(problem, PROFILES[profile].limits)
            assert planned.reduction_ratio == 1, (identifier, profile)
    for number, name, tile in [
        ("057", "out_width", 16),
        ("057", "out_height", 8),
        ("058", "out_width", 16),
        ("061", "out_width", 8),
        ("064", "out_length", 128),
        ("065", "out_width", 16),
        ("068", "out_channels", 4),
        ("069", "out_width", 16),
        ("069", "out_height", 8),
        ("070", "out_width", 8),
        ("071", "out_width", 32),
        ("071", "out_height", 8),
        ("072", "out_width", 8),
        ("073", "width", 16),
        ("074", "out_length", 64),
        ("075", "out_width", 16),
        ("075", "out_height", 4),
        ("077", "out_width", 8),
        ("079", "out_length", 64),
        ("079", "length", 32),
        ("081", "out_width", 8),
        ("081", "out_height", 4),
    ]:
        problem = corpus.problem(f"level1/{number}")
        full, small = contract(problem), dimensions(problem, smallest_sizes(problem))
        assert full[name] % tile == small[name] % tile, (number, name)
    for number, tile in [("057", 64), ("061", 32), ("068", 32), ("069", 32)]:
        problem = corpus.problem(f"level1/{number}")
        sizes = (contract(problem), dimensions(problem, smallest_sizes(problem)))
        outputs = [math.prod(shape_of(problem.outputs[0], v)[2:]) % tile for v in sizes]
        assert outputs[0] == outputs[1], number


@pytest.mark.parametrize("identifier", IDS)
def test_blocks_have_128_or_256_threads_and_grids_several_blocks(
    corpus: Corpus, identifier: str
) -> None:
    problem = corpus.problem(identifier)
    values = plan_shape(problem, PROFILES["full"].limits).dimensions
    for substrate in all_substrates(problem):
        for launch in substrate.plan.resolve(values, problem.scalars).launches:
            assert math.prod(launch.block) in (128, 256), launch.kernel
            assert math.prod(launch.grid) > 1, launch.kernel


@pytest.fixture(scope="module")
def device() -> Device:
    if shutil.which("g++") is None:
        pytest.skip("the host device needs g++")
    return open_device("cpu")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.mark.parametrize("identifier", IDS)
def test_kernels_at_odd_shapes(
    corpus: Corpus, device: Device, cache: Path, identifier: str
) -> None:
    problem = corpus.problem(identifier)
    kernels = list(compiled(problem, device, cache))
    with device.open() as session:
        for values in odd_shapes(problem):
            for how in ("normal", "integers"):
                tensors = draw(problem, values, how)
                case = case_of(problem, tensors, f"{sorted(values.items())}{how}")
                session.bind(case)
                own = session.judge(case.reference).statistics[Statistic.TRUTH_RMS]
                length = reduction_length(problem, values)
                exact = how == "integers"
                floor = floors(problem, tensors, case.reference, length, exact)[Statistic.RMS]
                for name, substrate, binary in kernels:
                    plan = substrate.plan.resolve(values, problem.scalars)
                    hashes = set()
                    for schedule in range(device.schedules):
                        outcome = session.run(binary, plan, schedule=schedule, deadline=30.0)
                        where = (name, values, how, schedule)
                        assert outcome.status is Status.OK, (where, outcome)
                        assert outcome.statistics[Statistic.TRUTH_RMS] <= 8 * max(own, floor), where
                        hashes.add(outcome.output_hash)
                    atomic = "atomicAdd" in sources(problem, substrate)[substrate.source]
                    assert len(hashes) == 1 or (atomic and not exact), where


@pytest.mark.parametrize("identifier", IDS)
def test_kernels_compile_for_gpus_without_a_warning(corpus: Corpus, identifier: str) -> None:
    library = nvrtc()
    if library is None:
        pytest.skip("nvidia-cuda-nvrtc is not installed")
    problem = corpus.problem(identifier)
    compiled_once = {s.source: sources(problem, s)[s.source] for s in all_substrates(problem)}
    for name, text in compiled_once.items():
        for architecture in ("sm_80", "sm_100"):
            assert compile_log(library, name, text, architecture) == (0, ""), (name, architecture)
