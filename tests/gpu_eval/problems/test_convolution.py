"""Problems 54 to 87 that convolve forward: references, parameters, controls, kernels."""

import math
import shutil
from collections.abc import Callable

import pytest
import torch
from torch import nn

from gpu_eval.campaign.shapes import PROFILES, plan_shape
from gpu_eval.devices.base import Binary, Case, Device
from gpu_eval.devices.registry import open_device
from gpu_eval.problems.definition import (
    DimensionKind,
    ParameterSpec,
    Problem,
    Substrate,
    TensorSpec,
)
from gpu_eval.problems.families.convolution import Convolution
from gpu_eval.problems.loader import Corpus, kernel_source
from gpu_eval.problems.tensors import (
    contract,
    dimensions,
    floors,
    reduction_length,
    shape_of,
)
from suiteopt.matrix.schema import Statistic, Status

Layer = nn.Conv1d | nn.Conv2d | nn.Conv3d
Layers = tuple[Layer, ...]

# The layers that the benchmark's models make, with the arguments that it gives them.
LAYERS: dict[str, Callable[[], Layers]] = {
    "level1/054": lambda: (nn.Conv3d(3, 64, (3, 3, 3), 1, 0, 1, 1, bias=False),),
    "level1/055": lambda: (nn.Conv2d(64, 128, (3, 3), 1, 0, 1, 1, bias=False),),
    "level1/056": lambda: (nn.Conv2d(64, 128, (5, 7), (1, 1), (0, 0), (1, 1), 1, bias=False),),
    "level1/059": lambda: (nn.Conv3d(3, 64, (3, 3, 1), 1, 0, 1, 1, bias=False),),
    "level1/060": lambda: (nn.Conv3d(3, 64, (3, 5, 7), 1, 0, 1, 1, bias=False),),
    "level1/062": lambda: (nn.Conv2d(32, 64, (5, 9), 1, 0, 1, 1, bias=False),),
    "level1/063": lambda: (nn.Conv2d(16, 128, (3, 3), 1, 0, 1, 1, bias=False),),
    "level1/066": lambda: (nn.Conv3d(3, 64, (3, 5, 7), (1, 1, 1), (0, 0, 0), bias=False),),
    "level1/067": lambda: (nn.Conv1d(64, 128, 3, 1, 0, 1, 1, bias=False),),
    "level1/076": lambda: (nn.Conv1d(64, 128, 3, stride=3, dilation=4, bias=False),),
    "level1/080": lambda: (nn.Conv2d(32, 64, (5, 9), 1, (2, 4), (2, 3), bias=False),),
    "level1/082": lambda: (nn.Conv2d(64, 64, 3, 1, 0, groups=64, bias=False),),
    "level1/083": lambda: (nn.Conv2d(8, 8, (3, 1), 1, 0, 1, groups=8, bias=False),),
    "level1/084": lambda: (nn.Conv2d(128, 128, (3, 3), 1, 0, groups=128, bias=False),),
    "level1/085": lambda: (
        nn.Conv2d(128, 128, (3, 7), (1, 1), (0, 0), (1, 1), groups=128, bias=False),
    ),
    "level1/086": lambda: (
        nn.Conv2d(64, 64, 3, 1, 1, 1, groups=64, bias=False),
        nn.Conv2d(64, 128, kernel_size=1, bias=False),
    ),
    "level1/087": lambda: (nn.Conv2d(64, 128, kernel_size=1, stride=1, padding=0, bias=False),),
}
IDS = list(LAYERS)

# Input, output and number of terms of the contract.
CONTRACTS = {
    "level1/054": ((16, 3, 64, 64, 64), (16, 64, 62, 62, 62), 81),
    "level1/055": ((8, 64, 512, 1024), (8, 128, 510, 1022), 576),
    "level1/056": ((8, 64, 512, 256), (8, 128, 508, 250), 2240),
    "level1/059": ((16, 3, 256, 256, 10), (16, 64, 254, 254, 10), 27),
    "level1/060": ((16, 3, 64, 64, 64), (16, 64, 62, 60, 58), 315),
    "level1/062": ((8, 32, 512, 512), (8, 64, 508, 504), 1440),
    "level1/063": ((16, 16, 1024, 1024), (16, 128, 1022, 1022), 144),
    "level1/066": ((8, 3, 16, 128, 128), (8, 64, 14, 124, 122), 315),
    "level1/067": ((32, 64, 131072), (32, 128, 131070), 192),
    "level1/076": ((64, 64, 524280), (64, 128, 174758), 192),
    "level1/080": ((8, 32, 512, 512), (8, 64, 508, 496), 1440),
    "level1/082": ((16, 64, 512, 512), (16, 64, 510, 510), 9),
    "level1/083": ((64, 8, 512, 512), (64, 8, 510, 512), 3),
    "level1/084": ((64, 128, 256, 512), (64, 128, 254, 510), 9),
    "level1/085": ((32, 128, 128, 256), (32, 128, 126, 250), 21),
    "level1/086": ((16, 64, 512, 512), (16, 128, 512, 512), 73),
    "level1/087": ((16, 64, 1024, 1024), (16, 128, 1024, 1024), 64),
}

# More than one tile, none of them whole, and channels that no group divides.
ODD = {
    "level1/054": {"batch": 2, "depth": 6, "height": 12, "width": 15, "out_channels": 21},
    "level1/055": {"batch": 2, "in_channels": 5, "height": 13, "width": 25, "out_channels": 19},
    "level1/056": {"batch": 2, "in_channels": 7, "height": 11, "width": 43, "out_channels": 21},
    "level1/059": {"batch": 2, "height": 7, "width": 21, "depth": 7, "out_channels": 6},
    "level1/060": {"batch": 2, "width": 5, "height": 15, "depth": 19, "out_channels": 11},
    "level1/062": {"batch": 2, "in_channels": 3, "height": 11, "width": 47, "out_channels": 11},
    "level1/063": {"batch": 2, "height": 21, "width": 37, "out_channels": 7},
    "level1/066": {"batch": 2, "depth": 5, "height": 15, "width": 25, "out_channels": 11},
    "level1/067": {"batch": 2, "in_channels": 11, "length": 137, "out_channels": 21},
    "level1/076": {"batch": 2, "in_channels": 6, "length": 437, "out_channels": 11},
    "level1/080": {"batch": 2, "in_channels": 3, "height": 13, "width": 55, "out_channels": 19},
    "level1/082": {"batch": 2, "channels": 3, "height": 37, "width": 43},
    "level1/083": {"batch": 2, "channels": 3, "height": 37, "width": 43},
    "level1/084": {"batch": 2, "channels": 3, "height": 21, "width": 43},
    "level1/085": {"batch": 2, "channels": 3, "height": 21, "width": 47},
    "level1/086": {"batch": 2, "in_channels": 11, "height": 5, "width": 21, "out_channels": 19},
    "level1/087": {"batch": 2, "in_channels": 11, "height": 7, "width": 19, "out_channels": 37},
}


def odd(problem: Problem) -> dict[str, int]:
    fixed = {d.name: d.size for d in problem.dimensions if d.fixed}
    return dimensions(problem, fixed | ODD[problem.id])


def draw(problem: Problem, values: dict[str, int], how: str) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(7)
    specs: tuple[TensorSpec | ParameterSpec, ...] = (*problem.inputs, *problem.parameters)
    tensors: dict[str, torch.Tensor] = {}
    for spec in specs:
        x = torch.randn(shape_of(spec, values), generator=generator)
        tensors[spec.name] = {"normal": x, "offset": 100 + x, "integers": (3 * x).round()}[how]
    return tensors


def wide(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: tensor.double() for name, tensor in tensors.items()}


def error(output: torch.Tensor, truth: torch.Tensor) -> float:
    return float((output.double() - truth).abs().max() / truth.square().mean().sqrt())


def allowed(problem: Problem, tensors: dict[str, torch.Tensor], values: dict[str, int]) -> float:
    reference = problem.reference(tensors)
    truth = problem.reference(wide(tensors))["y"]
    length = reduction_length(problem, values)
    floor = floors(problem, tensors, dict(reference), length, False)[Statistic.RMS]
    return 8 * max(error(reference["y"], truth), floor)


@pytest.mark.parametrize("identifier", IDS)
def test_contracts_are_the_benchmarks(corpus: Corpus, identifier: str) -> None:
    problem = corpus.problem(identifier)
    values = contract(problem)
    ((x,), (y,)) = (
        [shape_of(spec, values) for spec in specs] for specs in (problem.inputs, problem.outputs)
    )
    assert (x, y, reduction_length(problem, values)) == CONTRACTS[identifier]


@pytest.mark.parametrize("identifier", IDS)
def test_references_are_the_benchmarks_layers(corpus: Corpus, identifier: str) -> None:
    problem = corpus.problem(identifier)
    layers = LAYERS[identifier]()
    axes = {d.name for d in problem.dimensions if not d.fixed and "channels" not in d.name}
    small = {name: 18 if name in ("width", "length") else 9 for name in axes - {"batch"}}
    full = {d.name: d.size for d in problem.dimensions if d.name not in axes}
    values = dimensions(problem, {"batch": 1, **small, **full})
    x = draw(problem, values, "normal")["x"].double()
    weights = [layer.double().weight.detach() for layer in layers]
    names = [spec.name for spec in problem.parameters]
    expected = x
    for layer in layers:
        expected = layer(expected)
    given = {"x": x, **dict(zip(names, weights, strict=True))}
    assert torch.equal(problem.reference(given)["y"], expected)


@pytest.mark.parametrize("identifier", IDS)
def test_parameters_are_drawn_as_the_benchmarks_model_draws_them(
    corpus: Corpus, identifier: str
) -> None:
    problem = corpus.problem(identifier)
    assert problem.initialise is not None
    shapes = {s.name: shape_of(s, contract(problem)) for s in problem.parameters}
    torch.manual_seed(42)
    drawn = list(problem.initialise(shapes).values())
    after = torch.rand(1)
    torch.manual_seed(42)
    layers = LAYERS[identifier]()
    assert torch.equal(after, torch.rand(1)), "nothing else was drawn"
    assert all(layer.bias is None for layer in layers)
    for weight, layer in zip(drawn, layers, strict=True):
        assert torch.equal(weight, layer.weight)
        assert not weight.requires_grad


@pytest.mark.parametrize("identifier", IDS)
def test_torch_controls_are_right(corpus: Corpus, identifier: str) -> None:
    problem = corpus.problem(identifier)
    values = odd(problem)
    tensors = draw(problem, values, "offset")
    before = {name: tensor.clone() for name, tensor in tensors.items()}
    reference, truth = problem.reference(tensors)["y"], problem.reference(wide(tensors))["y"]
    limit = allowed(problem, tensors, values)
    different = 0
    for control in problem.controls:
        if control.run is None:
            continue
        output = control.run(tensors)["y"]
        assert (output.shape, output.dtype) == (truth.shape, torch.float32), control.name
        assert error(output, truth) <= limit, control.name
        same = torch.equal(output, reference)
        assert same or not control.identical, control.name
        different += not same
    assert different >= 4
    assert all(torch.equal(tensors[name], before[name]) for name in tensors)


@pytest.mark.parametrize("identifier", IDS)
def test_integer_inputs_make_every_control_exact(corpus: Corpus, identifier: str) -> None:
    problem = corpus.problem(identifier)
    tensors = draw(problem, odd(problem), "integers")
    truth = problem.reference(wide(tensors))["y"]
    assert truth.abs().max() > 10
    for control in problem.controls:
        if control.run is not None:
            assert torch.equal(control.run(tensors)["y"].double(), truth), control.name


@pytest.mark.parametrize("identifier", IDS)
def test_magnitudes_bound_the_outputs(corpus: Corpus, identifier: str) -> None:
    problem = corpus.problem(identifier)
    assert problem.magnitude is not None
    tensors = wide(draw(problem, odd(problem), "normal"))
    truth, magnitude = problem.reference(tensors)["y"], problem.magnitude(tensors)["y"]
    assert (magnitude >= truth.abs() * (1 - 1e-12)).all()
    assert (magnitude > truth.abs()).any()


@pytest.mark.parametrize(
    "convolution",
    [
        Convolution((3, 2), stride=(2, 3), padding=(1, 2), dilation=(2, 1)),
        Convolution((2, 3), stride=(3, 1), padding=(2, 0), depthwise=True),
        Convolution((1, 3, 2), padding=(0, 1, 1), dilation=(1, 1, 2)),
    ],
)
@pytest.mark.parametrize("most", [1 << 28, 1])
def test_every_way_of_a_convolution_gives_the_same(
    convolution: Convolution, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpu_eval.problems.families.convolution.MOST_PATCHES", most)
    generator = torch.Generator().manual_seed(3)
    shape = (3, 5, *(11, 12, 9)[: convolution.rank])
    x = torch.randn(shape, generator=generator, dtype=torch.float64)
    width = 1 if convolution.depthwise else 5
    out_channels = 5 if convolution.depthwise else 4
    weight = torch.randn(
        (out_channels, width, *convolution.kernel), generator=generator, dtype=torch.float64
    )
    expected = convolution.apply(x, weight)

    def forwards(term: Callable[[int], torch.Tensor], count: int) -> torch.Tensor:
        return torch.stack([term(k) for k in range(count)]).sum(0)

    ways = [
        convolution.in_order(x, weight, forwards),
        convolution.by_unfolding(x, weight),
        convolution.by_taps(x, weight),
    ]
    if not convolution.depthwise:
        ways.append(convolution.by_channels(x, weight))
    if convolution.winograd_axis() is not None:
        ways.append(convolution.winograd(x, weight))
    for way in ways:
        torch.testing.assert_close(way, expected, rtol=1e-12, atol=1e-12)


def test_winograd_takes_three_neighbouring_taps_alone() -> None:
    assert Convolution((3, 5)).winograd_axis() == 0
    assert Convolution((3, 3), stride=(1, 2)).winograd_axis() == 0
    assert Convolution((3,), dilation=(2,)).winograd_axis() is None
    assert Convolution((5, 7)).winograd_axis() is None


def test_depthwise_channels_do_not_mix(corpus: Corpus) -> None:
    for identifier in ("level1/082", "level1/083", "level1/084", "level1/085"):
        problem = corpus.problem(identifier)
        tensors = draw(problem, odd(problem), "normal")
        before = problem.reference(tensors)["y"]
        tensors["x"][:, 1] += 1
        changed = (problem.reference(tensors)["y"] != before).flatten(2).any(2)
        assert changed.tolist() == [[False, True, False]] * 2


@pytest.mark.parametrize("identifier", IDS)
def test_shapes_keep_their_tails_and_the_whole_reduction(corpus: Corpus, identifier: str) -> None:
    problem = corpus.problem(identifier)
    planned = plan_shape(problem, PROFILES["contract"].limits).dimensions
    full = contract(problem)
    for d in problem.dimensions:
        assert (d.size - planned[d.name]) % d.tile == 0, d.name
        if d.kind is DimensionKind.REDUCED:
            assert planned[d.name] == d.size, d.name
    # Blocks of 8 to 128 outputs: what is left over at the end of an axis is what the contract has.
    for name, tile in {
        "level1/054": (("out_width", 8), ("out_height", 8), ("out_depth", 2)),
        "level1/055": (("out_width", 16), ("out_height", 8)),
        "level1/056": (("out_width", 32), ("out_height", 4)),
        "level1/059": (("out_width", 16), ("out_height", 4)),
        "level1/060": (("out_depth", 8), ("out_height", 8)),
        "level1/062": (("out_width", 32), ("out_height", 4)),
        "level1/063": (("out_width", 32), ("out_height", 16)),
        "level1/066": (("out_width", 16), ("out_height", 8)),
        "level1/067": (("out_length", 64),),
        "level1/076": (("out_length", 128),),
        "level1/080": (("out_width", 32), ("out_height", 4)),
        "level1/082": (("out_width", 32), ("out_height", 32)),
        "level1/083": (("out_width", 32), ("out_height", 32)),
        "level1/084": (("out_width", 32), ("out_height", 16)),
        "level1/085": (("out_width", 32), ("out_height", 16)),
        "level1/086": (("width", 16), ("height", 8)),
        "level1/087": (("out_channels", 24),),
    }[identifier]:
        assert planned[name] % tile == full[name] % tile, name
    pixels = {"level1/055": 64, "level1/080": 128, "level1/087": 48}.get(identifier)
    if pixels is not None:
        flat = [v["out_height"] * v["out_width"] % pixels for v in (planned, full)]
        assert flat[0] == flat[1]


@pytest.fixture(scope="module")
def device() -> Device:
    if shutil.which("g++") is None:
        pytest.skip("the host device needs g++")
    return open_device("cpu")


@pytest.fixture(scope="module")
def binaries(
    corpus: Corpus, device: Device, tmp_path_factory: pytest.TempPathFactory
) -> dict[tuple[str, str], Binary]:
    """Compile all kernels together, which is much faster than one by one."""
    pairs = [(p, s) for p in map(corpus.problem, IDS) for s in p.substrates]
    sources = [kernel_source(problem, substrate) for problem, substrate in pairs]
    made = device.compile(sources, tmp_path_factory.mktemp("cache"), 1)
    assert [binary.error for binary in made] == [""] * len(pairs)
    return {(p.id, s.name): b for (p, s), b in zip(pairs, made, strict=True)}


def case_of(problem: Problem, tensors: dict[str, torch.Tensor], key: str) -> Case:
    reference, truth = problem.reference(tensors), problem.reference(wide(tensors))
    return Case(key, tensors, {"y": reference["y"].contiguous()}, {"y": truth["y"].contiguous()})


def on_every_schedule(
    device: Device, problem: Problem, substrate: Substrate, binary: Binary, case: Case, limit: float
) -> None:
    values = odd(problem)
    plan = substrate.plan.resolve(values, problem.scalars)
    with device.open() as session:
        session.bind(case)
        hashes = set()
        for schedule in range(device.schedules):
            outcome = session.run(binary, plan, schedule=schedule, deadline=30.0)
            assert outcome.status is Status.OK, (substrate.name, outcome)
            assert not outcome.divergent, substrate.name
            assert outcome.statistics[Statistic.TRUTH_RMS] <= limit, substrate.name
            hashes.add(outcome.output_hash)
        assert len(hashes) == 1, f"{substrate.name} depends on the order of its threads"


@pytest.mark.parametrize("how", ["normal", "integers"])
@pytest.mark.parametrize("identifier", IDS)
def test_kernels_at_an_odd_shape(
    corpus: Corpus,
    device: Device,
    binaries: dict[tuple[str, str], Binary],
    identifier: str,
    how: str,
) -> None:
    problem = corpus.problem(identifier)
    values = odd(problem)
    tensors = draw(problem, values, how)
    limit = 0.0 if how == "integers" else allowed(problem, tensors, values)
    assert math.isfinite(limit)
    case = case_of(problem, tensors, how)
    for substrate in problem.substrates:
        binary = binaries[problem.id, substrate.name]
        on_every_schedule(device, problem, substrate, binary, case, limit)
