"""Products of matrices (problems 2, 3, 5 to 18) and attention (97), kernels and all."""

import math
import shutil
from collections.abc import Callable

import pytest
import torch

from gpu_eval.campaign.own_draw import TRIAL_SEEDS, own_draw
from gpu_eval.campaign.pool import candidate_pool, realise
from gpu_eval.campaign.shapes import PROFILES
from gpu_eval.campaign.witness_pool import witness_pool
from gpu_eval.devices.base import Binary, Device
from gpu_eval.devices.registry import open_device
from gpu_eval.problems.definition import Problem, Substrate, Tensors
from gpu_eval.problems.families.matmul import halves
from gpu_eval.problems.loader import Corpus, kernel_source
from gpu_eval.problems.tensors import (
    all_specs,
    contract,
    dimensions,
    floors,
    reduction_length,
    shape_of,
)
from gpu_eval.problems.validate import validate
from suiteopt.matrix.schema import Statistic, Status
from tests.gpu_eval.problems.level1_extension import case_of, draw, widened
from tests.gpu_eval.problems.test_corpus import error

Forward = Callable[..., torch.Tensor]
Shape = tuple[int, ...]

attention = torch.nn.functional.scaled_dot_product_attention

# What the benchmark's models compute, the shapes of what they are given and of what they return,
# the terms of a sum, and an odd shape.
BENCHMARK: dict[str, tuple[Forward, list[Shape], Shape, int, dict[str, int]]] = {
    "002": (
        torch.matmul,
        [(2048, 8192), (8192, 4096)],
        (2048, 4096),
        8192,
        {"m": 33, "n": 37, "k": 43},
    ),
    "003": (
        torch.bmm,
        [(128, 512, 1024), (128, 1024, 2048)],
        (128, 512, 2048),
        1024,
        {"batch": 3, "m": 35, "n": 19, "k": 21},
    ),
    "005": (lambda a: a * 3.14, [(65536, 16384)], (65536, 16384), 1, {"rows": 5, "cols": 277}),
    "006": (
        torch.matmul,
        [(256, 524288), (524288, 256)],
        (256, 256),
        524288,
        {"m": 33, "n": 18, "k": 97},
    ),
    "007": (
        torch.matmul,
        [(32768, 64), (64, 32768)],
        (32768, 32768),
        64,
        {"m": 37, "n": 35, "k": 41},
    ),
    "008": (
        torch.matmul,
        [(8205, 2949), (2949, 5921)],
        (8205, 5921),
        2949,
        {"m": 45, "n": 65, "k": 37},
    ),
    "009": (torch.matmul, [(32768, 32), (32, 32768)], (32768, 32768), 32, {"m": 67, "n": 30}),
    "010": (
        torch.matmul,
        [(16, 1024, 2048), (2048, 768)],
        (16, 1024, 768),
        2048,
        {"n": 3, "m": 19, "l": 35, "k": 37},
    ),
    "011": (
        lambda a, b: torch.einsum("bijl,lk->bijk", a, b),
        [(8, 256, 512, 256), (256, 768)],
        (8, 256, 512, 768),
        256,
        {"b": 2, "i": 3, "j": 7, "k": 19, "l": 37},
    ),
    "012": (
        lambda a, b: torch.diag(a) @ b,
        [(4096,), (4096, 4096)],
        (4096, 4096),
        1,
        {"n": 37, "m": 67},
    ),
    "013": (torch.matmul, [(4096, 4096)] * 2, (4096, 4096), 4096, {"n": 67}),
    "014": (
        lambda a, b: torch.triu(torch.matmul(a, b)),
        [(4096, 4096)] * 2,
        (4096, 4096),
        4096,
        {"n": 67},
    ),
    "015": (
        lambda a, b: torch.tril(torch.matmul(a, b)),
        [(4096, 4096)] * 2,
        (4096, 4096),
        4096,
        {"n": 67},
    ),
    "016": (
        lambda a, b: torch.matmul(a.T, b),
        [(8192, 2048), (8192, 4096)],
        (2048, 4096),
        8192,
        {"m": 35, "n": 37, "k": 43},
    ),
    "017": (
        lambda a, b: torch.matmul(a, b.T),
        [(2048, 8192), (4096, 8192)],
        (2048, 4096),
        8192,
        {"m": 35, "n": 38, "k": 43},
    ),
    "018": (
        lambda a, b: torch.matmul(a.T, b.T),
        [(8192, 2048), (4096, 8192)],
        (2048, 4096),
        8192,
        {"m": 35, "n": 37, "k": 43},
    ),
    "097": (
        attention,
        [(32, 32, 512, 1024)] * 3,
        (32, 32, 512, 1024),
        512 + 1024,
        {"batch": 2, "heads": 1, "seq": 37, "dim": 19},
    ),
}
NUMBERS = list(BENCHMARK)
SUMS = [number for number in NUMBERS if number not in ("005", "012", "097")]
STRUCTURED = ("013", "014", "015")


def of(corpus: Corpus, number: str) -> Problem:
    return corpus.problem(f"level1/{number}")


def odd(problem: Problem, how: str = "normal") -> tuple[dict[str, int], dict[str, torch.Tensor]]:
    """Return the odd shape and tensors of it, structured as the contract demands."""
    number = problem.id.removeprefix("level1/")
    values = dimensions(problem, BENCHMARK[number][4])
    tensors = draw(problem, values, how)
    if number in STRUCTURED:
        tensors = {name: structured(number, t) for name, t in tensors.items()}
    return values, tensors


def structured(number: str, x: torch.Tensor) -> torch.Tensor:
    if number == "013":
        return x.triu() + x.triu(1).T
    return x.triu() if number == "014" else x.tril()


def output_of(tensors: Tensors) -> torch.Tensor:
    (output,) = tensors.values()
    return output


@pytest.mark.parametrize("number", NUMBERS)
def test_contract_and_forward_are_the_benchmarks(corpus: Corpus, number: str) -> None:
    problem = of(corpus, number)
    forward, inputs, output, terms, _ = BENCHMARK[number]
    values = contract(problem)
    assert [shape_of(spec, values) for spec in all_specs(problem)] == [*inputs, output]
    assert reduction_length(problem, values) == terms
    tensors = widened(odd(problem)[1])
    assert torch.equal(output_of(problem.reference(tensors)), forward(*tensors.values()))
    validate(problem)


def test_own_draws_are_the_benchmarks(corpus: Corpus) -> None:
    def drawn(number: str, seed: int) -> list[torch.Tensor]:
        problem = of(corpus, number)
        sizes = dimensions(problem, BENCHMARK[number][4])
        return list(own_draw(problem, sizes, seed).values())

    for number, seed in zip(STRUCTURED, TRIAL_SEEDS, strict=False):
        torch.manual_seed(seed)
        if number == "013":
            first = torch.rand(67, 67)
            first = (first + first.T) / 2
            second = torch.rand(67, 67)
            expected = [first, (second + second.T) / 2]
        else:
            half = torch.triu if number == "014" else torch.tril
            expected = [half(torch.rand(67, 67)), half(torch.rand(67, 67))]
        assert all(map(torch.equal, drawn(number, seed), expected)), number
    torch.manual_seed(TRIAL_SEEDS[0])
    assert torch.equal(drawn("005", TRIAL_SEEDS[0])[0], torch.rand(5, 277))
    for seed in TRIAL_SEEDS[:2]:
        torch.manual_seed(seed)
        expected = [torch.rand(drawn("097", seed)[0].shape) for _ in "qkv"]
        assert all(map(torch.equal, drawn("097", seed), expected))


@pytest.mark.parametrize("number", STRUCTURED)
def test_every_input_keeps_the_structure(corpus: Corpus, number: str) -> None:
    problem, profile = of(corpus, number), PROFILES["demo"]
    for pool_input in (*candidate_pool(problem, profile), *witness_pool(problem, profile)):
        for tensor in realise(problem, pool_input).values():
            assert torch.equal(tensor, structured(number, tensor)), pool_input.id
            assert tensor.min() < tensor.max(), pool_input.id


def test_a_diagonal_is_never_thinned_out_to_nothing(corpus: Corpus) -> None:
    problem = of(corpus, "012")
    for profile in map(PROFILES.get, ("demo", "full")):
        assert profile is not None
        for pool_input in witness_pool(problem, profile):
            assert realise(problem, pool_input)["a"].count_nonzero() > 1, pool_input.id


@pytest.mark.parametrize("number", NUMBERS)
def test_torch_controls_are_right(corpus: Corpus, number: str) -> None:
    problem = of(corpus, number)
    length = reduction_length(problem, dimensions(problem, BENCHMARK[number][4]))
    different: set[str] = set()
    for how in ("normal", "offset", "uniform"):
        _, tensors = odd(problem, how)
        reference = problem.reference(tensors)
        truth = output_of(problem.reference(widened(tensors)))
        floor = floors(problem, tensors, reference, length, False)[Statistic.RMS]
        own = error(output_of(reference), truth)
        for control in problem.controls:
            if control.run is None:
                continue
            output = output_of(control.run(tensors))
            assert output.shape == truth.shape, control.name
            assert output.dtype == torch.float32, control.name
            allowed = max(8 * own, max(8, math.sqrt(length)) * floor)
            assert error(output, truth) <= allowed, (control.name, how)
            if not torch.equal(output, output_of(reference)):
                assert not control.identical, control.name
                different.add(control.name)
    # One product is rounded alike by whoever makes it whole.
    least = {"005": 3, "012": 1}.get(number, 8)
    assert len(different) >= least, different


@pytest.mark.parametrize("number", SUMS)
def test_integers_make_every_order_exact(corpus: Corpus, number: str) -> None:
    problem = of(corpus, number)
    _, tensors = odd(problem, "integers")
    truth = output_of(problem.reference(widened(tensors)))
    assert problem.exact_lattice
    assert truth.abs().max() > 10
    for control in problem.controls:
        if control.run is not None:
            assert torch.equal(output_of(control.run(tensors)).double(), truth), control.name


@pytest.mark.parametrize("number", NUMBERS)
def test_magnitudes_bound_outputs(corpus: Corpus, number: str) -> None:
    problem = of(corpus, number)
    if problem.magnitude is None:
        return
    wide = widened(odd(problem)[1])
    truth = output_of(problem.reference(wide))
    assert (output_of(problem.magnitude(wide)) >= truth.abs() * (1 - 1e-12)).all()


def test_halves_have_twelve_bits_and_add_up() -> None:
    x = torch.randn(1000, generator=torch.Generator().manual_seed(3))
    high, low = halves(x)
    assert torch.equal(high + low, x)
    for half in (high, low):
        mantissa, _ = torch.frexp(half.double())
        assert torch.equal(mantissa * 2**12, (mantissa * 2**12).round())
    assert low.count_nonzero() > 900


needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="the host needs g++")


@pytest.fixture(scope="module")
def device() -> Device:
    return open_device("cpu")


@pytest.fixture(scope="module")
def binaries(
    corpus: Corpus, device: Device, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Binary]:
    """Compile all kernels at once, which is several times as fast as one by one."""
    entries = {
        f"{number}:{substrate.name}": kernel_source(
            of(corpus, number), substrate, identifier=f"{number}:{substrate.name}"
        )
        for number in NUMBERS
        for substrate in substrates_of(of(corpus, number))
    }
    made = device.compile(list(entries.values()), tmp_path_factory.mktemp("cache"), 1)
    assert [binary.error for binary in made] == [""] * len(entries)
    return dict(zip(entries, made, strict=True))


def substrates_of(problem: Problem) -> list[Substrate]:
    controls = (c.substrate for c in problem.controls if c.substrate and not c.flags)
    return [*problem.substrates, *controls]


@needs_compiler
@pytest.mark.parametrize("number", NUMBERS)
def test_kernels_at_an_odd_shape(
    corpus: Corpus, device: Device, binaries: dict[str, Binary], number: str
) -> None:
    problem = of(corpus, number)
    with device.open() as session:
        values, tensors = odd(problem)
        case = case_of(problem, tensors, f"{number}odd")
        session.bind(case)
        own = session.judge(case.reference).statistics[Statistic.TRUTH_RMS]
        length = reduction_length(problem, values)
        floor = floors(problem, tensors, case.reference, length, False)[Statistic.RMS]
        for substrate in substrates_of(problem):
            plan = substrate.plan.resolve(values, problem.scalars)
            hashes = set()
            for schedule in range(device.schedules):
                binary = binaries[f"{number}:{substrate.name}"]
                outcome = session.run(binary, plan, schedule=schedule, deadline=30.0)
                assert outcome.status is Status.OK, (substrate.name, outcome)
                assert not outcome.divergent, substrate.name
                assert outcome.statistics[Statistic.TRUTH_RMS] <= 8 * max(own, floor)
                hashes.add(outcome.output_hash)
            assert len(hashes) == 1 or substrate.name == "atomic", substrate.name


@needs_compiler
@pytest.mark.parametrize(
    ("number", "name"),
    [("013", "upper-triangle"), ("014", "packed-grid"), ("015", "bounded")],
)
def test_what_a_structure_makes_redundant_is_not_read(
    corpus: Corpus, device: Device, binaries: dict[str, Binary], number: str, name: str
) -> None:
    problem = of(corpus, number)
    values, tensors = odd(problem)
    expected = case_of(problem, tensors, f"{number}whole")
    above = torch.ones(values["n"], values["n"], dtype=torch.bool).triu(1)
    unread = above if number == "015" else above.T
    spoilt = {n: t.masked_fill(unread, math.nan) for n, t in tensors.items()}
    (substrate,) = (s for s in problem.substrates if s.name == name)
    with device.open() as session:
        # The references stay those of the whole matrices.
        session.bind(type(expected)(f"{number}spoilt", spoilt, expected.reference, expected.truth))
        plan = substrate.plan.resolve(values, problem.scalars)
        outcome = session.run(binaries[f"{number}:{name}"], plan)
        assert outcome.status is Status.OK, outcome
        assert outcome.statistics[Statistic.TRUTH_RMS] < 1e-5
