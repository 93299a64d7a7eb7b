"""Activations, log-softmax and normalisations: against torch's modules, and kernels on the host."""

import math
import shutil
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from gpu_eval.devices.base import Binary, Device
from gpu_eval.devices.registry import open_device
from gpu_eval.problems.definition import Problem, Substrate, Tensors
from gpu_eval.problems.loader import Corpus, all_substrates, kernel_source, sources
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
from suiteopt.matrix.schema import Count, Statistic, Status
from tests.gpu_eval.problems.level1_extension import case_of, draw, widened
from tests.gpu_eval.problems.test_corpus import compile_log, error, nvrtc

WIDE = {"rows": 3, "cols": 341}
ODD = {
    "level1/020": WIDE,
    "level1/021": WIDE,
    "level1/022": WIDE,
    "level1/024": {"rows": 5, "cols": 131},
    "level1/025": WIDE,
    "level1/027": WIDE,
    "level1/028": WIDE,
    "level1/029": WIDE,
    "level1/030": WIDE,
    "level1/031": WIDE,
    "level1/032": WIDE,
    "level1/033": {"batch": 3, "features": 5, "dim1": 7, "dim2": 19},
    "level1/034": {"batch": 2, "features": 3, "dim1": 9, "dim2": 37},
    "level1/035": {"batch": 2, "groups": 8, "width": 3, "dim1": 5, "dim2": 7},
    "level1/037": {"batch": 2, "features": 3, "dim1": 5, "dim2": 43},
    "level1/038": {"rows": 7, "cols": 262},
    "level1/039": {"rows": 3, "cols": 131},
    "level1/088": WIDE,
}
IDS = list(ODD)
ACTIVATIONS = [i for i in IDS if ODD[i] is WIDE]
IMAGES = (112, 64, 512, 512)
PIXELS = 512 * 512
ROOT = math.sqrt(2.0 / math.pi)

# What the benchmark's model computes, with its literal arguments.
MODULES: dict[str, Callable[[Tensor], Tensor]] = {
    "level1/020": nn.LeakyReLU(negative_slope=0.01),
    "level1/021": nn.Sigmoid(),
    "level1/022": nn.Tanh(),
    "level1/024": nn.LogSoftmax(dim=1),
    "level1/025": lambda x: x * torch.sigmoid(x),
    "level1/027": nn.SELU(),
    "level1/028": nn.Hardsigmoid(),
    "level1/029": nn.Softplus(),
    "level1/030": lambda x: x / (1 + torch.abs(x)),
    "level1/031": nn.ELU(alpha=1.0),
    "level1/032": lambda x: functional.hardtanh(x, min_val=-1.0, max_val=1.0),
    "level1/034": nn.InstanceNorm2d(num_features=3),
    "level1/037": lambda x: x / torch.norm(x, p="fro"),
    "level1/038": lambda x: x / torch.mean(torch.abs(x), dim=1, keepdim=True),
    "level1/039": lambda x: x / torch.norm(x, p=2, dim=1, keepdim=True),
    "level1/088": lambda x: 0.5 * x * (1.0 + torch.tanh(ROOT * (x + 0.044715 * torch.pow(x, 3.0)))),
}


def test_contracts_are_the_benchmarks(corpus: Corpus) -> None:
    names = {
        "level1/020": "20_LeakyReLU",
        "level1/021": "21_Sigmoid",
        "level1/022": "22_Tanh",
        "level1/024": "24_LogSoftmax",
        "level1/025": "25_Swish",
        "level1/027": "27_SELU_",
        "level1/028": "28_HardSigmoid",
        "level1/029": "29_Softplus",
        "level1/030": "30_Softsign",
        "level1/031": "31_ELU",
        "level1/032": "32_HardTanh",
        "level1/033": "33_BatchNorm",
        "level1/034": "34_InstanceNorm",
        "level1/035": "35_GroupNorm_",
        "level1/037": "37_FrobeniusNorm_",
        "level1/038": "38_L1Norm_",
        "level1/039": "39_L2Norm_",
        "level1/088": "88_MinGPTNewGelu",
    }
    assert {i: corpus.problem(i).name for i in IDS} == names
    shapes: dict[str, tuple[tuple[int, ...], int]] = {
        **dict.fromkeys(ACTIVATIONS, ((4096, 393216), 1)),
        "level1/088": ((8192, 8192), 1),
        "level1/024": ((4096, 393216), 393216),
        "level1/033": ((64, 64, 512, 512), 64 * PIXELS),
        "level1/034": (IMAGES, PIXELS),
        "level1/035": (IMAGES, 8 * PIXELS),
        "level1/037": (IMAGES, math.prod(IMAGES)),
        "level1/038": ((32768, 65535), 65535),
        "level1/039": ((32768, 65535), 65535),
    }
    for identifier in IDS:
        problem = corpus.problem(identifier)
        values = contract(problem)
        found = {spec.name: shape_of(spec, values) for spec in all_specs(problem)}
        shape, length = shapes[identifier]
        affine = identifier in ("level1/033", "level1/035")
        expected = {"x": shape, "y": shape, **({"weight": (64,), "bias": (64,)} if affine else {})}
        assert found == expected, identifier
        assert reduction_length(problem, values) == length, identifier


@pytest.mark.parametrize("identifier", IDS)
def test_definitions_are_valid(corpus: Corpus, identifier: str) -> None:
    problem = corpus.problem(identifier)
    validate(problem)
    assert len(problem.substrates) == 2


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_references_are_the_benchmarks_modules(corpus: Corpus, dtype: torch.dtype) -> None:
    for identifier, module in MODULES.items():
        problem = corpus.problem(identifier)
        x = draw(problem, dimensions(problem, ODD[identifier]), "wide")["x"].to(dtype)
        with torch.no_grad():
            expected = module(x)
        assert torch.equal(problem.reference({"x": x})["y"], expected), identifier


@pytest.mark.parametrize(
    ("identifier", "features", "module"),
    [
        ("level1/033", 5, nn.BatchNorm2d(num_features=5)),
        ("level1/035", 24, nn.GroupNorm(num_groups=8, num_channels=24)),
    ],
)
def test_affine_norms_are_the_benchmarks_modules(
    corpus: Corpus, identifier: str, features: int, module: nn.Module
) -> None:
    problem = corpus.problem(identifier)
    tensors = draw(problem, dimensions(problem, ODD[identifier]), "normal")
    assert problem.initialise is not None
    torch.manual_seed(42)
    first = problem.initialise({"weight": (features,), "bias": (features,)})
    after = torch.rand(1)
    torch.manual_seed(42)
    assert torch.equal(after, torch.rand(1)), "nothing was drawn"
    # A model is in training mode until told otherwise: BatchNorm runs on the batch.
    assert module.training
    wide = {n: t.double() for n, t in tensors.items()}
    module = module.double()
    with torch.no_grad():
        for name, initial in first.items():
            assert torch.equal(module.get_parameter(name), initial.double())
            module.get_parameter(name).copy_(wide[name])
        assert torch.equal(problem.reference(wide)["y"], module(wide["x"]))


@pytest.mark.parametrize("how", ["uniform", "normal", "offset", "wide"])
@pytest.mark.parametrize("identifier", IDS)
def test_torch_controls_are_right(corpus: Corpus, identifier: str, how: str) -> None:
    problem = corpus.problem(identifier)
    values = dimensions(problem, ODD[identifier])
    tensors = draw(problem, values, how)
    reference = problem.reference(tensors)
    truth = problem.reference(widened(tensors))["y"]
    length = reduction_length(problem, values)
    floor = floors(problem, tensors, reference, length, False)[Statistic.RMS]
    allowed = 8 * max(error(reference["y"], truth), floor)
    different = set()
    for control in problem.controls:
        if control.run is None:
            continue
        output = control.run(tensors)["y"]
        assert output.shape == truth.shape, control.name
        assert output.dtype == torch.float32, control.name
        assert error(output, truth) <= allowed, control.name
        same = torch.equal(output, reference["y"])
        assert same or not control.identical, control.name
        different |= set() if same else {control.kind}
    if how == "normal":
        assert len(different) >= 3 if problem.rounds else not different


def test_magnitudes_bound_the_outputs(corpus: Corpus) -> None:
    for identifier in IDS:
        problem = corpus.problem(identifier)
        if problem.magnitude is None:
            continue
        tensors = widened(draw(problem, dimensions(problem, ODD[identifier]), "wide"))
        magnitude, truth = problem.magnitude(tensors)["y"], problem.reference(tensors)["y"]
        assert (magnitude >= truth.abs() * (1 - 1e-12)).all(), identifier


Kernels = dict[str, list[tuple[str, Substrate, Binary]]]


@pytest.fixture(scope="module")
def device() -> Device:
    if shutil.which("g++") is None:
        pytest.skip("the host device needs g++")
    return open_device("cpu")


@pytest.fixture(scope="module")
def kernels(corpus: Corpus, device: Device, tmp_path_factory: pytest.TempPathFactory) -> Kernels:
    """Compile all kernels at once, control's included, by problem."""
    found = [
        (problem, substrate)
        for problem in map(corpus.problem, IDS)
        for substrate in {s.name: s for s in all_substrates(problem)}.values()
    ]
    given = [kernel_source(p, s, identifier=f"{p.id}:{s.name}") for p, s in found]
    binaries = device.compile(given, tmp_path_factory.mktemp("cache"), 1)
    compiled: Kernels = {}
    for (problem, substrate), binary in zip(found, binaries, strict=True):
        assert binary.path is not None, binary.error
        compiled.setdefault(problem.id, []).append((substrate.name, substrate, binary))
    return compiled


@pytest.mark.parametrize("identifier", IDS)
def test_kernels_at_odd_and_at_whole_shapes(
    corpus: Corpus, device: Device, kernels: Kernels, identifier: str
) -> None:
    problem = corpus.problem(identifier)
    with device.open() as session:
        for sizes, how in ((ODD[identifier], "normal"), (smallest_sizes(problem), "offset")):
            values = dimensions(problem, sizes)
            tensors = draw(problem, values, how)
            case = case_of(problem, tensors, f"{identifier}{how}")
            session.bind(case)
            own = session.judge(case.reference).statistics[Statistic.TRUTH_RMS]
            length = reduction_length(problem, values)
            floor = floors(problem, tensors, case.reference, length, False)[Statistic.RMS]
            for name, substrate, binary in kernels[identifier]:
                plan = substrate.plan.resolve(values, problem.scalars)
                for schedule in range(device.schedules):
                    outcome = session.run(binary, plan, schedule=schedule, deadline=30.0)
                    where = (name, values, schedule)
                    assert outcome.status is Status.OK, (where, outcome)
                    assert not outcome.divergent, where
                    assert outcome.statistics[Statistic.TRUTH_RMS] <= 8 * max(own, floor), where


SPECIAL = (math.nan, math.inf, -math.inf, 0.0, -0.0, 1e-42, -1e-20, 1e4, -1e4, 3e38, -3e38)


def special_case(problem: Problem) -> dict[str, Tensor]:
    tensors = draw(problem, dimensions(problem, WIDE), "normal")
    tensors["x"].view(-1)[: 31 * len(SPECIAL) : 31] = torch.tensor(SPECIAL)
    return tensors


@pytest.mark.parametrize("identifier", ACTIVATIONS)
def test_activations_are_right_far_out(
    corpus: Corpus, device: Device, kernels: Kernels, identifier: str
) -> None:
    problem = corpus.problem(identifier)
    tensors = special_case(problem)
    case = case_of(problem, tensors, "special")
    plans = dimensions(problem, WIDE)

    def same(outcome_counts: dict[Count, int]) -> bool:
        return outcome_counts[Count.NAN_ONE] == outcome_counts[Count.INF_MISMATCH] == 0

    with device.open() as session:
        session.bind(case)
        for name, substrate, binary in kernels[identifier]:
            outcome = session.run(binary, substrate.plan.resolve(plans, problem.scalars))
            assert same(dict(outcome.counts)), (name, outcome)
            assert outcome.counts[Count.NAN_BOTH] >= 1, name
            assert outcome.statistics[Statistic.ALLCLOSE_REFERENCE] < 1e-6, name
        for control in problem.controls:
            if control.run is not None:
                outputs: Tensors = control.run(tensors)
                outcome = session.judge({n: t.contiguous() for n, t in outputs.items()})
                assert outcome.statistics[Statistic.ALLCLOSE_REFERENCE] < 1e-6, control.name


def test_known_answers(corpus: Corpus) -> None:
    x = torch.tensor([[-1e3, -3.0, 0.0, 3.0, 1e3]], dtype=torch.float64)
    answers = {
        "level1/020": [-10.0, -0.03, 0.0, 3.0, 1e3],
        "level1/021": [0.0, 0.04742587317756678, 0.5, 0.9525741268224334, 1.0],
        "level1/022": [-1.0, -0.9950547536867305, 0.0, 0.9950547536867305, 1.0],
        "level1/027": [
            -1.7580993408473769,
            -1.670568728767112,
            0.0,
            3.1521029620664414,
            1050.7009873554805,
        ],
        "level1/028": [0.0, 0.0, 0.5, 1.0, 1.0],
        "level1/029": [0.0, 0.04858735157374206, math.log(2), 3.048587351573742, 1e3],
        "level1/030": [-1e3 / 1001, -0.75, 0.0, 0.75, 1e3 / 1001],
        "level1/031": [-1.0, math.expm1(-3), 0.0, 3.0, 1e3],
        "level1/032": [-1.0, -1.0, 0.0, 1.0, 1.0],
    }
    for identifier, expected in answers.items():
        y = corpus.problem(identifier).reference({"x": x})["y"]
        assert torch.allclose(y, torch.tensor([expected], dtype=y.dtype), rtol=1e-12, atol=1e-12), (
            identifier
        )


def test_kernels_compile_for_gpus_without_a_warning(corpus: Corpus) -> None:
    library = nvrtc()
    if library is None:
        pytest.skip("nvidia-cuda-nvrtc is not installed")
    for problem in map(corpus.problem, IDS):
        for substrate in all_substrates(problem):
            text = sources(problem, substrate)[substrate.source]
            status, log = compile_log(library, substrate.source, text, "sm_90")
            assert (status, log) == (0, ""), (problem.id, substrate.source)
