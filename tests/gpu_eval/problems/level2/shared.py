"""What the tests of every part of level 2 do with a problem, given the benchmark's own model.

A part's module holds a table of `Example`, one a problem, and calls `checks` on it.
"""

import math
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from gpu_eval.devices.base import Binary, Case, Device
from gpu_eval.devices.registry import open_device
from gpu_eval.problems.definition import Problem, Substrate
from gpu_eval.problems.loader import Corpus, kernel_source
from gpu_eval.problems.tensors import (
    UNIT_ROUNDOFF,
    contract,
    dimensions,
    floors,
    reduction_length,
    shape_of,
)
from gpu_eval.problems.validate import validate
from suiteopt.matrix.schema import Statistic, Status

Shape = tuple[int, ...]
Forward = Callable[..., Tensor]


@dataclass(frozen=True)
class Model:
    """A benchmark's model at some sizes.

    Attributes
    ----------
    forward : callable
        The problem's inputs, in their order, to the output; reads the parameters when called.
    parameters : mapping of str to Tensor
        By the names that our definition gives them.
    """

    forward: Forward
    parameters: Mapping[str, Tensor]


@dataclass(frozen=True)
class Example:
    """What the benchmark says of a problem, and an odd shape.

    Attributes
    ----------
    name : str
        The benchmark's file without its ending.
    given, result : shapes
        Of the inputs and the output, as the benchmark's literal numbers make them.
    build : callable
        Sizes (every name that expressions may use) to the model, modules made in the order and
        with the arguments of the benchmark's ``__init__``, sizes in place of its numbers.
    odd : mapping of str to int
        A size for each dimension, tails everywhere.
    random : bool
        Whether dropout makes the output random.
    """

    name: str
    given: tuple[Shape, ...]
    result: Shape
    build: Callable[[Mapping[str, int]], Model]
    odd: Mapping[str, int]
    random: bool = False


def layer(module: nn.Module, weight: str = "weight", bias: str = "bias") -> dict[str, Tensor]:
    """Return a module's parameters by our names."""
    names = {"weight": weight, "bias": bias}
    return {names[name]: tensor for name, tensor in module.named_parameters()}


def check_contract(problem: Problem, example: Example) -> None:
    """Names and shapes are the benchmark's."""
    validate(problem)
    assert (problem.benchmark, problem.level, problem.name) == ("kernelbench", 2, example.name)
    assert problem.id == f"level2/{int(example.name.split('_')[0]):03d}"
    values = contract(problem)
    assert tuple(shape_of(spec, values) for spec in problem.inputs) == example.given
    (output,) = problem.outputs
    assert shape_of(output, values) == example.result


def check_initialisation(problem: Problem, example: Example) -> None:
    """Parameters are those of the benchmark's model under one seed, to the bit."""
    values = dimensions(problem, example.odd)
    torch.manual_seed(42)
    wanted = example.build(values).parameters
    torch.manual_seed(42)
    assert problem.initialise is not None
    made = problem.initialise({p.name: shape_of(p, values) for p in problem.parameters})
    assert set(made) == set(wanted)
    for name, tensor in wanted.items():
        assert torch.equal(made[name].reshape(-1), tensor.detach().reshape(-1)), name


def check_reference(problem: Problem, example: Example) -> None:
    """The reference is the benchmark's model in fp64, parameters away from where they begin."""
    values = dimensions(problem, example.odd)
    model = example.build(values)
    drawn = drawn_tensors(problem, values, seed=3)
    wide = {name: tensor.double() for name, tensor in drawn.items()}
    for name, tensor in model.parameters.items():
        tensor.data = wide[name].reshape(tensor.shape).clone()
    torch.manual_seed(5)
    with torch.no_grad():
        wanted = model.forward(*(wide[spec.name] for spec in problem.inputs))
    torch.manual_seed(5)
    got = problem.reference(wide)["y"]
    assert got.shape == wanted.shape
    if example.random:
        assert not torch.equal(got, problem.reference(wide)["y"]), "dropout draws no mask"
        return
    scale = float(wanted.abs().max())
    assert torch.allclose(got, wanted, rtol=1e-9, atol=1e-12 * max(scale, 1e-3)), float(
        (got - wanted).abs().max()
    )


def check_controls(problem: Problem, example: Example) -> None:
    """Every torch control is within the worst case of its sums, and none computes in fp64."""
    values = dimensions(problem, example.odd)
    tensors = drawn_tensors(problem, values, seed=7)
    wide = {name: tensor.double() for name, tensor in tensors.items()}
    assert problem.magnitude is not None
    size = problem.magnitude(wide)["y"]
    truth = problem.reference(wide)["y"]
    assert bool((size >= 0).all())
    length = reduction_length(problem, values)
    for control in problem.controls:
        if control.run is None:
            continue
        got = control.run(tensors)["y"]
        assert got.dtype is torch.float32, control.name
        assert got.shape == truth.shape, control.name
        if example.random:
            continue
        worst = length * UNIT_ROUNDOFF * size + 8 * UNIT_ROUNDOFF * truth.abs() + 1e-30
        excess = float(((got.double() - truth).abs() / worst).max())
        assert excess <= 8, (control.name, excess)


def check_kernels(problem: Problem, example: Example, kernels: "Kernels") -> None:
    """Every substrate is right at the odd shape under every schedule, the same each time."""
    values = dimensions(problem, example.odd)
    tensors = drawn_tensors(problem, values, seed=11)
    reference = {n: t.contiguous() for n, t in problem.reference(tensors).items()}
    wide = {n: t.double() for n, t in tensors.items()}
    truth = {n: t.contiguous() for n, t in problem.reference(wide).items()}
    with kernels.device.open() as session:
        session.bind(Case(problem.id, tensors, reference, truth))
        own = session.judge(reference).statistics[Statistic.TRUTH_RMS]
        length = reduction_length(problem, values)
        floor = floors(problem, tensors, reference, length, False)[Statistic.RMS]
        for substrate, binary in kernels.of(problem):
            plan = substrate.plan.resolve(values, problem.scalars)
            hashes = set()
            for schedule in range(kernels.device.schedules):
                outcome = session.run(binary, plan, schedule=schedule, deadline=30.0)
                assert outcome.status is Status.OK, (substrate.name, outcome)
                error = outcome.statistics[Statistic.TRUTH_RMS]
                assert error <= 8 * max(own, floor), (substrate.name, error, own, floor)
                hashes.add(outcome.output_hash)
            assert len(hashes) == 1, f"{substrate.name} depends on the order of its threads"


class Kernels:
    """The compiled kernels of some problems."""

    def __init__(self, problems: list[Problem], directory: Path) -> None:
        self.device: Device = open_device("cpu")
        pairs = [(p, s) for p in problems for s in p.substrates]
        sources = [kernel_source(p, s) for p, s in pairs]
        binaries = self.device.compile(sources, directory, 2)
        self._found: dict[str, list[tuple[Substrate, Binary]]] = {p.id: [] for p in problems}
        for (problem, substrate), binary in zip(pairs, binaries, strict=True):
            assert binary.error == "", (problem.id, substrate.name, binary.error)
            self._found[problem.id].append((substrate, binary))

    def of(self, problem: Problem) -> list[tuple[Substrate, Binary]]:
        """Return a problem's substrates with their binaries."""
        return self._found[problem.id]


def drawn_tensors(problem: Problem, values: Mapping[str, int], seed: int) -> dict[str, Tensor]:
    """Return normal inputs and parameters, scales away from zero, weights of a layer's size."""
    generator = torch.Generator().manual_seed(seed)
    tensors = {}
    for spec in (*problem.inputs, *problem.parameters):
        shape = shape_of(spec, values)
        drawn = torch.randn(shape, generator=generator)
        if len(shape) > 1 and spec in problem.parameters:
            drawn = drawn / math.sqrt(max(math.prod(shape[1:]), 1))
        tensors[spec.name] = drawn
    return tensors


def checks(examples: Mapping[str, Example]) -> type:
    """Return the tests of a part's problems, to be bound to a name that begins with ``Test``."""
    numbers = pytest.mark.parametrize("number", list(examples))

    class Checks:
        @pytest.fixture(scope="class")
        @classmethod
        def kernels(cls, corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Kernels:
            if shutil.which("g++") is None:
                pytest.skip("the host device needs g++")
            problems = [corpus.problem(f"level2/{number}") for number in examples]
            return Kernels(problems, tmp_path_factory.mktemp("cache"))

        @numbers
        def test_contract(self, corpus: Corpus, number: str) -> None:
            check_contract(corpus.problem(f"level2/{number}"), examples[number])

        @numbers
        def test_initialisation(self, corpus: Corpus, number: str) -> None:
            check_initialisation(corpus.problem(f"level2/{number}"), examples[number])

        @numbers
        def test_reference(self, corpus: Corpus, number: str) -> None:
            check_reference(corpus.problem(f"level2/{number}"), examples[number])

        @numbers
        def test_controls(self, corpus: Corpus, number: str) -> None:
            check_controls(corpus.problem(f"level2/{number}"), examples[number])

        @numbers
        def test_kernels(self, corpus: Corpus, kernels: Kernels, number: str) -> None:
            check_kernels(corpus.problem(f"level2/{number}"), examples[number], kernels)

    return Checks
