"""Poolings, reductions of a dimension, scans and losses: 41 to 53, 90 to 93, 96 and 98 to 100."""

import math
import shutil

import pytest
import torch
from torch import nn

from gpu_eval.campaign.own_draw import TRIAL_SEEDS, own_draw
from gpu_eval.campaign.pool import candidate_pool, realise
from gpu_eval.campaign.shapes import PROFILES, plan_shape
from gpu_eval.campaign.witness_pool import witness_pool
from gpu_eval.devices.base import Binary, Device
from gpu_eval.devices.registry import open_device
from gpu_eval.problems.definition import Problem, Structure, Substrate, TensorSpec
from gpu_eval.problems.families.scan import by_tree, doubled, running_products, scaled_products
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
from suiteopt.matrix.schema import Statistic, Status
from tests.gpu_eval.problems.level1_extension import case_of, widened
from tests.gpu_eval.problems.test_corpus import compile_log, error, nvrtc

ODD_SIZES = {
    "level1/041": {"batch": 2, "features": 3, "length": 149},
    "level1/043": {"batch": 2, "channels": 3, "depth": 6, "height": 23, "width": 39},
    "level1/044": {"batch": 1, "channels": 5, "length": 131},
    "level1/045": {"batch": 2, "channels": 3, "height": 25, "width": 140},
    "level1/046": {"batch": 1, "channels": 3, "depth": 12, "height": 7, "width": 69},
    "level1/048": {"batch": 3, "dim1": 37, "dim2": 131},
    "level1/049": {"batch": 3, "dim1": 37, "dim2": 131},
    "level1/052": {"batch": 3, "dim1": 37, "dim2": 131},
    "level1/053": {"batch": 3, "dim1": 37, "dim2": 131},
    "level1/090": {"rows": 35, "cols": 67},
    "level1/091": {"rows": 7, "cols": 261},
    "level1/092": {"rows": 7, "cols": 261},
    "level1/093": {"rows": 7, "cols": 261},
    "level1/096": {"rows": 37, "cols": 131},
    "level1/098": {"rows": 7, "cols": 165},
    "level1/099": {"rows": 131, "cols": 37},
    "level1/100": {"rows": 37, "cols": 131},
}
IDS = list(ODD_SIZES)
CHOOSE = ["level1/041", "level1/043", "level1/049", "level1/052", "level1/053"]
ROUND = [identifier for identifier in IDS if identifier not in CHOOSE]

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="the host device needs g++")


def odd(problem: Problem) -> dict[str, int]:
    return dimensions(problem, ODD_SIZES[problem.id])


def draw(
    problem: Problem, values: dict[str, int], how: str, seed: int = 7
) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    tensors: dict[str, torch.Tensor] = {}
    for spec in problem.inputs:
        x = torch.randn(shape_of(spec, values), generator=generator)
        if how == "offset":
            x = x + (1 if problem.multiplies else 30)
        elif how == "integers":
            x = (x * 3).round()
        tensors[spec.name] = _structured(spec, x)
    return tensors


def _structured(spec: TensorSpec, x: torch.Tensor) -> torch.Tensor:
    match spec.structure:
        case Structure.MASK:
            return x > 0
        case Structure.SIGNS:
            return torch.where(x > 0, 1.0, -1.0)
        case Structure.PROBABILITY_ROWS:
            return x.softmax(dim=-1)
        case _:
            return x


def test_contracts_are_the_benchmarks(corpus: Corpus) -> None:
    square, volume = (32768, 32768), (128, 4096, 4095)
    expected = {
        "level1/041": ({"x": (64, 192, 65536), "y": (64, 192, 65523)}, 1),
        "level1/043": ({"x": (16, 32, 128, 128, 128), "y": (16, 32, 62, 62, 62)}, 1),
        "level1/044": ({"x": (64, 128, 65536), "y": (64, 128, 65537)}, 8),
        "level1/045": ({"x": (16, 64, 2048, 2048), "y": (16, 64, 186, 186)}, 121),
        "level1/046": ({"x": (16, 32, 128, 128, 256), "y": (16, 32, 64, 64, 128)}, 27),
        "level1/048": ({"x": volume, "y": (128, 4095)}, 4096),
        "level1/049": ({"x": volume, "y": (128, 4095)}, 4096),
        "level1/052": ({"x": volume, "y": (128, 4095)}, 4096),
        "level1/053": ({"x": volume, "y": (128, 4095)}, 4096),
        "level1/090": ({"x": square, "y": square}, 32768),
        "level1/091": ({"x": square, "y": square}, 32768),
        "level1/092": ({"x": square, "y": square}, 32767),
        "level1/093": ({"x": square, "mask": square, "y": square}, 32768),
        "level1/096": ({"predictions": square, "targets": square, "loss": ()}, 65536),
        "level1/098": (
            {"predictions": (16384, 16384), "targets": (16384, 16384), "loss": ()},
            32768,
        ),
        "level1/099": (
            {
                "anchor": (32768, 8192),
                "positive": (32768, 8192),
                "negative": (32768, 8192),
                "loss": (),
            },
            40960,
        ),
        "level1/100": ({"predictions": square, "targets": (32768,), "loss": ()}, 65536),
    }
    found = {}
    for problem in map(corpus.problem, IDS):
        values = contract(problem)
        shapes = {spec.name: shape_of(spec, values) for spec in all_specs(problem)}
        found[problem.id] = (shapes, reduction_length(problem, values))
    assert found == expected
    dtypes = {s.name: s.dtype for s in corpus.problem("level1/093").inputs}
    assert dtypes == {"x": "float32", "mask": "bool"}
    assert [s.dtype for s in corpus.problem("level1/052").outputs] == ["int64"]
    assert [p.id for p in corpus.problems.values() if p.multiplies] == ["level1/090"]


@pytest.mark.parametrize("identifier", IDS)
def test_definitions_are_valid_and_have_two_substrates(corpus: Corpus, identifier: str) -> None:
    problem = corpus.problem(identifier)
    validate(problem)
    assert len(problem.substrates) == 2


@pytest.mark.parametrize(
    ("identifier", "module"),
    [
        ("level1/041", nn.MaxPool1d(kernel_size=8, stride=1, padding=4, dilation=3)),
        ("level1/043", nn.MaxPool3d(kernel_size=3, stride=2, padding=1, dilation=3)),
        ("level1/044", nn.AvgPool1d(kernel_size=8, stride=1, padding=4)),
        ("level1/045", nn.AvgPool2d(kernel_size=11, stride=None, padding=0)),
        ("level1/046", nn.AvgPool3d(kernel_size=3, stride=2, padding=1)),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_poolings_are_the_benchmarks_modules(
    corpus: Corpus, identifier: str, module: nn.Module
) -> None:
    problem = corpus.problem(identifier)
    x = draw(problem, odd(problem), "normal")["x"].double()
    assert torch.equal(problem.reference({"x": x})["y"], module(x))


def test_references_are_the_benchmarks_formulas(corpus: Corpus) -> None:
    torch.manual_seed(0)
    x, other, third = torch.randn(3, 6, 7, dtype=torch.float64).unbind(0)
    volume = torch.randn(2, 7, 5, dtype=torch.float64)
    mask, signs = other > 0, torch.tensor([1.0, -1, 1, 1, -1, -1, 1], dtype=torch.float64)
    p, t = x.softmax(dim=1), other.softmax(dim=1)
    pair = {"predictions": x, "targets": other}
    triplet = {"anchor": x, "positive": other, "negative": third}
    given = [
        ("048", {"x": volume}, torch.mean(volume, dim=1)),
        ("049", {"x": volume}, torch.max(volume, dim=1)[0]),
        ("052", {"x": volume}, torch.argmin(volume, dim=1)),
        ("053", {"x": volume}, torch.min(volume, dim=1)[0]),
        ("090", {"x": x}, torch.cumprod(x, dim=1)),
        ("091", {"x": x}, torch.cumsum(x.flip(1), dim=1).flip(1)),
        ("093", {"x": x, "mask": mask}, torch.cumsum(x * mask, dim=1)),
        ("096", pair, nn.SmoothL1Loss()(x, other)),
        ("098", {"predictions": p, "targets": t}, (t * (t / p).log()).sum() / 6),
        ("099", triplet, nn.TripletMarginLoss(margin=1.0)(x, other, third)),
        ("100", {"predictions": x, "targets": signs}, (1 - x * signs).clamp(min=0).mean()),
    ]
    for number, tensors, expected in given:
        (output,) = corpus.problem(f"level1/{number}").reference(tensors).values()
        torch.testing.assert_close(output, expected, rtol=1e-14, atol=1e-15, msg=number)
    exclusive = corpus.problem("level1/092").reference(
        {"x": torch.tensor([[5.0, 1, 2], [3, 0, 9]])}
    )
    assert exclusive["y"].tolist() == [[0, 5, 6], [0, 3, 3]]
    # One target for each column, although the benchmark counts them by rows.
    hinge = corpus.problem("level1/100").reference(
        {"predictions": torch.tensor([[0.5, 0.5], [0.5, 0.5]]), "targets": torch.tensor([1.0, -1])}
    )
    assert hinge["loss"].item() == (0.5 + 1.5) / 2


def test_own_draws_are_the_benchmarks(corpus: Corpus) -> None:
    def drawn(identifier: str, sizes: dict[str, int]) -> list[torch.Tensor]:
        problem = corpus.problem(identifier)
        return [*own_draw(problem, dimensions(problem, sizes), TRIAL_SEEDS[0]).values()]

    def harness() -> torch.Tensor:
        torch.manual_seed(TRIAL_SEEDS[0])
        return torch.rand(())

    huber = drawn("level1/096", {"rows": 5, "cols": 7})
    scale = harness()
    assert torch.equal(huber[0], torch.rand(5, 7) * scale)
    assert torch.equal(huber[1], torch.rand(5, 7))
    divergence = drawn("level1/098", {"rows": 5, "cols": 7})
    scale = harness()
    assert torch.equal(divergence[0], (torch.rand(5, 7) * scale).softmax(dim=-1))
    assert torch.equal(divergence[1], torch.rand(5, 7).softmax(dim=-1))
    triplet = drawn("level1/099", {"rows": 5, "cols": 7})
    scale = harness()
    assert torch.equal(triplet[0], torch.rand(5, 7) * scale)
    assert torch.equal(triplet[1], torch.rand(5, 7))
    assert torch.equal(triplet[2], torch.rand(5, 7))
    masked = drawn("level1/093", {"rows": 5, "cols": 7})
    torch.manual_seed(TRIAL_SEEDS[0])
    assert torch.equal(masked[0], torch.rand(5, 7))
    assert torch.equal(masked[1], torch.randint(0, 2, (5, 7)).bool())
    hinge = drawn("level1/100", {"rows": 5, "cols": 7})
    torch.manual_seed(TRIAL_SEEDS[0])
    assert torch.equal(hinge[0], torch.rand(5, 7))
    assert torch.equal(hinge[1], torch.randint(0, 2, (7,)).float() * 2 - 1)


@pytest.mark.parametrize("how", ["normal", "offset"])
@pytest.mark.parametrize("identifier", ROUND)
def test_torch_controls_are_right(corpus: Corpus, identifier: str, how: str) -> None:
    problem = corpus.problem(identifier)
    for values in (odd(problem), dimensions(problem, smallest_sizes(problem))):
        tensors = draw(problem, values, how)
        before = {n: t.clone() for n, t in tensors.items()}
        (reference,) = problem.reference(tensors).values()
        (truth,) = problem.reference(widened(tensors)).values()
        length = reduction_length(problem, values)
        floor = floors(problem, tensors, problem.reference(tensors), length, False)[Statistic.RMS]
        allowed = max(8 * error(reference, truth), max(8, math.sqrt(length)) * floor)
        for control in problem.controls:
            if control.run is None:
                continue
            (output,) = control.run(tensors).values()
            assert output.shape == truth.shape, control.name
            assert output.dtype == torch.float32, control.name
            assert error(output, truth) <= allowed, (control.name, values)
        assert all(torch.equal(tensors[n], before[n]) for n in tensors), "inputs were written to"


@pytest.mark.parametrize("identifier", ROUND)
def test_controls_round_differently_unless_they_say_so(corpus: Corpus, identifier: str) -> None:
    problem = corpus.problem(identifier)
    # The one number of a loss may well be rounded alike: what counts is several draws.
    different: set[str] = set()
    for seed in range(4):
        tensors = draw(problem, odd(problem), "normal", seed)
        (reference,) = problem.reference(tensors).values()
        for control in problem.controls:
            if control.run is None:
                continue
            (output,) = control.run(tensors).values()
            if not torch.equal(output, reference):
                assert not control.identical, control.name
                different.add(control.name)
    assert len(different) >= 6, different


@pytest.mark.parametrize("identifier", CHOOSE)
def test_controls_that_choose_agree_on_ties_and_special_values(
    corpus: Corpus, identifier: str
) -> None:
    problem = corpus.problem(identifier)
    tensors = draw(problem, odd(problem), "integers")
    flat = tensors["x"].view(-1)
    for k, value in enumerate((math.nan, math.inf, -math.inf, -0.0)):
        flat[k * 7 :: 101] = value
    (reference,) = problem.reference(tensors).values()
    for control in problem.controls:
        if control.run is None or not control.identical:
            continue
        (output,) = control.run(tensors).values()
        same = torch.isclose(output, reference, rtol=0, atol=0, equal_nan=True)
        assert bool(same.all()), control.name
    if problem.value_of is not None:
        right = problem.value_of(tensors, {"y": reference})["y"]
        last = next(c.run for c in problem.controls if c.name == "last")
        assert last is not None
        chosen = problem.value_of(tensors, last(tensors))["y"]
        assert torch.equal(chosen.nan_to_num(9e9), right.nan_to_num(9e9))
        assert not torch.equal(last(tensors)["y"], reference)


@pytest.mark.parametrize("identifier", [i for i in ROUND if i[-3:] in ("044", "091", "092", "093")])
def test_integer_inputs_make_every_order_exact(corpus: Corpus, identifier: str) -> None:
    problem = corpus.problem(identifier)
    assert problem.exact_lattice
    tensors = draw(problem, odd(problem), "integers")
    (truth,) = problem.reference(widened(tensors)).values()
    for control in problem.controls:
        if control.run is not None:
            (output,) = control.run(tensors).values()
            assert torch.equal(output.double(), truth), control.name


def test_magnitudes_bound_the_outputs(corpus: Corpus) -> None:
    for problem in map(corpus.problem, IDS):
        if problem.magnitude is None:
            continue
        tensors = widened(draw(problem, odd(problem), "normal"))
        (truth,), (magnitude,) = (
            f(tensors).values() for f in (problem.reference, problem.magnitude)
        )
        assert bool((magnitude >= truth.abs() * (1 - 1e-12)).all()), problem.id


def test_scaled_products_neither_overflow_nor_vanish() -> None:
    x = torch.tensor([[1e-30, 1e-30, 1e30, 1e30, 1e30, 1e-15], [-2.0, 0.5, 0.0, 3e38, 3e38, 3e38]])
    truth = torch.cumprod(x.double(), dim=1)
    assert running_products(x)[0].tolist()[1:] == [0.0] * 5, "where fp32 gives up"
    for scan in (lambda times, _: doubled(times), by_tree):
        products = scaled_products(scan)(x)
        assert products.dtype == torch.float32
        torch.testing.assert_close(products.double(), truth, rtol=1e-6, atol=1e-45)
    ends = torch.tensor([[2.0**120, 2.0**7, 2.0, 2.0**-130, 2.0**-147, 0.5]])
    expected = [2.0**120, 2.0**127, math.inf, 0.25, 2.0**-149, 0.0]
    assert scaled_products(by_tree)(ends)[0].tolist() == expected


def test_pools_of_a_long_product_hold_factors_about_one(corpus: Corpus) -> None:
    problem = corpus.problem("level1/090")
    profile = PROFILES["full"]
    for pool, least in (
        (candidate_pool(problem, profile), 8),
        (witness_pool(problem, profile), 12),
    ):
        kept = 0
        for member in pool:
            product = problem.reference(widened(realise(problem, member)))["y"].abs()
            middle = product[:, product.shape[1] // 2 :]
            kept += bool((middle > 1e-3 * product.amax()).any(dim=0).all())
        assert kept >= least
    names = {"signs", "near-one", "few-factors", "nearer-minus-one"}
    assert names <= {member.value_recipe for member in candidate_pool(problem, PROFILES["demo"])}
    sums = candidate_pool(corpus.problem("level1/091"), profile)
    assert not names & {member.value_recipe for member in sums}


def test_demo_grids_have_several_blocks_and_shrunk_shapes_keep_tails(corpus: Corpus) -> None:
    for problem in map(corpus.problem, IDS):
        values = plan_shape(problem, PROFILES["demo"].limits).dimensions
        for substrate in problem.substrates:
            launches = substrate.plan.resolve(values, problem.scalars).launches
            for launch in launches:
                assert math.prod(launch.block) in (128, 256), (problem.id, launch.kernel)
            several = launches if problem.outputs[0].shape else launches[:1]
            assert all(math.prod(launch.grid) > 1 for launch in several), problem.id
    for number, name, tile in [
        ("041", "out_length", 128),
        ("043", "out_width", 8),
        ("043", "out_height", 8),
        ("043", "out_depth", 4),
        ("044", "out_length", 128),
        ("045", "out_width", 11),
        ("045", "width", 11),
        ("046", "out_depth", 5),
        ("046", "out_width", 32),
        ("048", "dim2", 128),
        ("052", "dim1", 8),
        ("090", "rows", 32),
        ("091", "cols", 128),
        ("100", "cols", 128),
    ]:
        problem = corpus.problem(f"level1/{number}")
        full, small = contract(problem), dimensions(problem, smallest_sizes(problem))
        assert full[name] % tile == small[name] % tile, (number, name)


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


Kernels = dict[str, list[tuple[Substrate, Binary]]]


@pytest.fixture(scope="module")
def device() -> Device:
    return open_device("cpu")


@pytest.fixture(scope="module")
def kernels(corpus: Corpus, device: Device, tmp_path_factory: pytest.TempPathFactory) -> Kernels:
    """Compile all substrates at once, which takes little longer than one of them."""
    problems = [corpus.problem(identifier) for identifier in IDS]
    entries = [(problem, substrate) for problem in problems for substrate in problem.substrates]
    texts = [kernel_source(p, s, identifier=f"{p.id}:{s.name}") for p, s in entries]
    binaries = device.compile(texts, tmp_path_factory.mktemp("cache"), 1)
    found: Kernels = {identifier: [] for identifier in IDS}
    for (problem, substrate), binary in zip(entries, binaries, strict=True):
        assert binary.error == ""
        found[problem.id].append((substrate, binary))
    return found


@needs_compiler
@pytest.mark.parametrize("identifier", IDS)
def test_kernels_at_an_odd_shape(
    corpus: Corpus, device: Device, kernels: Kernels, identifier: str
) -> None:
    problem = corpus.problem(identifier)
    values = odd(problem)
    exact = problem.exact_lattice or not problem.rounds
    with device.open() as session:
        for how in ("normal", "offset", *(("integers",) if exact else ())):
            tensors = draw(problem, values, how)
            case = case_of(problem, tensors, how)
            session.bind(case)
            own = session.judge(case.reference).statistics[Statistic.TRUTH_RMS]
            length = reduction_length(problem, values)
            floor = floors(problem, tensors, case.reference, length, how == "integers")
            for substrate, binary in kernels[identifier]:
                plan = substrate.plan.resolve(values, problem.scalars)
                hashes = set()
                for schedule in range(device.schedules):
                    outcome = session.run(binary, plan, schedule=schedule, deadline=30.0)
                    where = (substrate.name, how, schedule)
                    assert outcome.status is Status.OK, (where, outcome)
                    assert not outcome.divergent, where
                    allowed = 8 * max(own, floor[Statistic.RMS])
                    assert outcome.statistics[Statistic.TRUTH_RMS] <= allowed, where
                    hashes.add(outcome.output_hash)
                assert len(hashes) == 1, f"{substrate.name} depends on the order of its threads"


@needs_compiler
@pytest.mark.parametrize("identifier", CHOOSE)
def test_kernels_that_choose_keep_special_values(
    corpus: Corpus, device: Device, kernels: Kernels, identifier: str
) -> None:
    problem = corpus.problem(identifier)
    values = odd(problem)
    tensors = draw(problem, values, "integers")
    flat = tensors["x"].view(-1)
    for k, value in enumerate((math.nan, math.inf, -math.inf, -0.0, -math.nan)):
        flat[k * 7 :: 101] = value
    case = case_of(problem, tensors, "special")
    with device.open() as session:
        session.bind(case)
        for substrate, binary in kernels[identifier]:
            session.run(binary, substrate.plan.resolve(values, problem.scalars))
            output = session.outputs()["y"]
            same = torch.isclose(output, case.reference["y"], rtol=0, atol=0, equal_nan=True)
            assert bool(same.all()), substrate.name


@needs_compiler
def test_products_pass_through_what_a_part_cannot_hold(
    corpus: Corpus, device: Device, kernels: Kernels
) -> None:
    problem = corpus.problem("level1/090")
    values = dimensions(problem, {"rows": 3, "cols": 70})
    x = torch.full((3, 70), 1.0)
    x[:, 5], x[:, 6:12], x[:, 12:18] = 1e-3, 1e-6, 1e6  # prefixes within range
    x[1, 40:46], x[1, 46:52] = -1e6, 1e-6  # 1e33 at most, and the same in the next rows' tiles
    x[2, 20] = 0.0
    case = case_of(problem, {"x": x}, "range")
    assert bool(case.truth["y"].isfinite().all())
    with device.open() as session:
        session.bind(case)
        for substrate, binary in kernels[problem.id]:
            outcome = session.run(binary, substrate.plan.resolve(values, problem.scalars))
            assert outcome.status is Status.OK, outcome
            assert outcome.statistics[Statistic.TRUTH_RMS] < 1e-5, substrate.name
