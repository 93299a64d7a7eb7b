"""Stages of fused problems: other ways, bounds, shapes, folding; and the problems made of them."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from gpu_eval.campaign.shape_growth import held_elements, work
from gpu_eval.campaign.shapes import PROFILES, plan_shape
from gpu_eval.problems.definition import Substrate, TensorSpec
from gpu_eval.problems.expressions import evaluate
from gpu_eval.problems.families.fused import (
    Clamp,
    Conv,
    ConvTranspose,
    Dropout,
    Keep,
    LeakyRelu,
    Linear,
    Normalise,
    Pipeline,
    Pool,
    Reduce,
    Residual,
    Scale,
    Shift,
    Softmax,
    Stage,
    SubtractMean,
    WithParameter,
    divide,
    fused_problem,
    gelu,
    global_average,
    hardswish,
    mish,
    parallel,
    reduced,
    relu,
    sigmoid,
    subtract,
    swish,
    tanh,
)
from gpu_eval.problems.families.fused_stages import Bound, Trace
from gpu_eval.problems.families.fused_tensors import broadcast
from gpu_eval.problems.loader import Corpus
from gpu_eval.problems.orders import ORDERS
from gpu_eval.problems.plan import LaunchPlan
from gpu_eval.problems.tensors import contract, dimensions, shape_of
from suiteopt.matrix.schema import OperationClass

MATRIX = {"batch": 6, "features": 12}
IMAGE = {"batch": 3, "channels": 4, "height": 7, "width": 9}
VOLUME = {"batch": 2, "channels": 4, "depth": 5, "height": 6, "width": 7}

STAGES: dict[str, tuple[Stage, dict[str, int]]] = {
    "linear": (Linear("out"), MATRIX),
    "linear-plain": (Linear("out", bias="", normal=True), MATRIX),
    "conv2d": (Conv(2, 3, "out", padding=1), IMAGE),
    "conv3d": (Conv(3, 3, "out", stride=2), VOLUME),
    "deconv2d": (ConvTranspose(2, 3, "out", stride=2, padding=1, output_padding=1), IMAGE),
    "deconv3d": (ConvTranspose(3, 4, "out", stride=2, padding=1, bias=""), VOLUME),
    "scale": (Scale(1.5), MATRIX),
    "divide": (divide(10.0), MATRIX),
    "shift": (Shift(0.3), MATRIX),
    "subtract": (subtract(0.3), MATRIX),
    "clamp": (Clamp(-0.5, 0.25), MATRIX),
    "relu": (relu(), MATRIX),
    "leaky": (LeakyRelu(0.2), MATRIX),
    "gelu": (gelu(), MATRIX),
    "sigmoid": (sigmoid(), MATRIX),
    "tanh": (tanh(), MATRIX),
    "swish": (swish(), MATRIX),
    "mish": (mish(), MATRIX),
    "hardswish": (hardswish(), MATRIX),
    "bias": (WithParameter("+", "p", ("channels", "1", "1")), IMAGE),
    "minus": (WithParameter("-", "p", ("channels",), axis=1), VOLUME),
    "times": (WithParameter("*", "p", ("features",)), MATRIX),
    "scalar": (WithParameter("+", "p", (), start=0.75), MATRIX),
    "residual": (Residual("*", "x"), MATRIX),
    "sum": (Reduce("sum"), MATRIX),
    "mean": (Reduce("mean", (2, 3), keep=False), IMAGE),
    "sum-of-all": (Reduce("sum", (1, 2, 3), keep=False), IMAGE),
    "max": (Reduce("max", (1,), keep=False), IMAGE),
    "min": (Reduce("min", (2,)), VOLUME),
    "logsumexp": (Reduce("logsumexp"), IMAGE),
    "logsumexp-of-one": (Reduce("logsumexp", (1,)), {"batch": 5, "1": 1}),
    "global": (global_average(3), VOLUME),
    "centred": (SubtractMean((2, 3)), IMAGE),
    "softmax": (Softmax((1,)), IMAGE),
    "softmax-of-image": (Softmax((2, 3, 4)), VOLUME),
    "batch-norm": (Normalise("batch"), IMAGE),
    "batch-norm-1d": (Normalise("batch"), MATRIX),
    "instance-norm": (Normalise("instance", affine_map=False), VOLUME),
    "layer-norm": (Normalise("last"), VOLUME),
    "row-norm": (Normalise("row", affine_map=False), MATRIX),
    "group-norm": (Normalise("group", groups=2), VOLUME),
    "group-norm-1d": (Normalise("group", width=3), MATRIX),
    "max-pool": (Pool("max", 2, 3, stride=2, padding=1), IMAGE),
    "mean-pool": (Pool("mean", 3, 2), VOLUME),
    "mean-pool-1d": (Pool("mean", 1, 4), MATRIX),
}


def prepared(name: str, seed: int = 1) -> tuple[Stage, dict[str, Tensor], dict[str, int], Trace]:
    """Return a stage, fp64 tensors for it, the sizes, and the trace of its shapes."""
    stage, sizes = STAGES[name]
    values = {**sizes, "out": 5}
    trace = Trace({"x": tuple(sizes)})
    generator = torch.Generator().manual_seed(seed)
    tensors = {"x": torch.randn(tuple(sizes.values()), generator=generator, dtype=torch.float64)}
    for spec in stage.parameters(tuple(sizes), trace):
        shape = tuple(evaluate(text, values) for text in spec.shape)
        tensors[spec.name] = torch.randn(shape, generator=generator, dtype=torch.float64)
    return stage, tensors, values, trace


@pytest.mark.parametrize("name", STAGES)
def test_other_ways_are_the_same_numbers(name: str) -> None:
    stage, tensors, values, trace = prepared(name)
    wanted = stage.apply(tensors["x"], dict(tensors))
    shape = stage.shape(tuple(STAGES[name][1]), trace)
    for size, text in trace.derived.items():
        values[size] = evaluate(text, values)
    assert tuple(evaluate(size, values) for size in shape) == wanted.shape
    torch.testing.assert_close(stage.otherwise(tensors["x"], dict(tensors)), wanted)
    for _, _, order in ORDERS:
        torch.testing.assert_close(stage.in_order(tensors["x"], dict(tensors), order), wanted)


@pytest.mark.parametrize("name", STAGES)
def test_initialisation_fills_the_declared_parameters(name: str) -> None:
    stage, tensors, values, trace = prepared(name)
    specs = stage.parameters(tuple(STAGES[name][1]), trace)
    shapes = {p.name: tuple(evaluate(text, values) for text in p.shape) for p in specs}
    made = stage.initialise(shapes)
    assert {name: tuple(tensor.shape) for name, tensor in made.items()} == shapes
    assert set(tensors) == {"x", *shapes}


@pytest.mark.parametrize("name", STAGES)
@pytest.mark.parametrize("ratio", [1e-6, 1e-3])
def test_bounds_hold_for_errors_in_front_of_a_stage(name: str, ratio: float) -> None:
    """An input off by ``ratio`` times its size is off by about ``ratio`` times the bound after."""
    stage, tensors, values, trace = prepared(name)
    x = tensors["x"]
    bound = stage.bound(Bound(x, x.abs()), dict(tensors))
    exact = stage.apply(x, dict(tensors))
    torch.testing.assert_close(bound.value, exact)
    text = stage.terms(tuple(STAGES[name][1]), trace)
    assert bound.terms == (evaluate(text, values) if text else 0)
    assert bool((bound.size >= 0).all())
    generator = torch.Generator().manual_seed(2)
    for _ in range(8):
        signs = torch.randint(0, 2, x.shape, generator=generator) * 2 - 1
        moved = {**tensors, "x": x * (1 + ratio * signs)}
        error = (stage.apply(moved["x"], moved) - exact).abs()
        # Second-order terms, and what lies within that distance of a kink.
        allowed = 1.05 * ratio * bound.size + 4 * ratio**2 * (1 + exact.abs()) * x.abs().max() ** 2
        if name == "residual":
            allowed = allowed * 1.1
        kinks = ratio * x.abs().max() if name in ("clamp", "relu", "leaky", "hardswish") else 0.0
        assert bool((error <= allowed + kinks * (bound.size == 0)).all()), float(
            (error - allowed).max()
        )


def test_what_is_cut_off_has_no_error_left() -> None:
    x = torch.tensor([-3.0, -1e-7, 0.5, 9.0], dtype=torch.float64)
    b = relu().bound(Bound(x, x.abs() + 1), {})
    assert b.size.tolist() == pytest.approx([0, 1 + 1e-7, 1.5, 10])
    assert (b.low, b.high) == (0.0, math.inf)
    # Nothing lies between 0 and 0: min(x, 0), then clamp(0, 1), as problem 83 has it.
    least = Clamp(high=0.0).bound(Bound(x, x.abs() + 1), {})
    nothing = Clamp(0.0, 1.0).bound(least, {})
    assert nothing.value.tolist() == [0, 0, 0, 0]
    assert nothing.size.tolist() == [0, 0, 0, 0]


def test_the_mean_of_one_number_leaves_nothing() -> None:
    x = torch.randn(5, 1, dtype=torch.float64)
    b = SubtractMean((1,)).bound(Bound(x, x.abs()), {})
    assert not b.value.any()
    assert not b.size.any()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 4), max_size=4), st.lists(st.integers(1, 4), max_size=4))
def test_shapes_broadcast_as_torch_has_them(left: list[int], right: list[int]) -> None:
    try:
        wanted = tuple(torch.broadcast_shapes(tuple(left), tuple(right)))
    except RuntimeError:
        return
    assert broadcast(tuple(map(str, left)), tuple(map(str, right))) == tuple(map(str, wanted))


@pytest.mark.parametrize(
    "stages",
    [
        (Linear("out"), Scale(2.0), WithParameter("-", "p", ("out",)), divide(3.0), tanh()),
        (Conv(2, 3, "out"), WithParameter("*", "p", ("out", "1", "1")), Shift(0.5), sigmoid()),
        (ConvTranspose(2, 3, "out", bias=""), WithParameter("+", "p", (), start=0.5), Scale(0.3)),
        (Linear("out"), WithParameter("*", "p", ("1",), start=1.0), Normalise("batch")),
    ],
)
def test_scales_fold_into_weights(stages: tuple[Stage, ...]) -> None:
    sizes = {"batch": 3, "c": 4} | ({} if isinstance(stages[0], Linear) else {"h": 6, "w": 5})
    values = {**sizes, "out": 5}
    trace = Trace({"x": tuple(sizes)})
    tensors = {"x": torch.randn(tuple(sizes.values()), dtype=torch.float64)}
    shape = tuple(sizes)
    for stage in stages:
        for spec in stage.parameters(shape, trace):
            extents = tuple(evaluate(text, values) for text in spec.shape)
            tensors[spec.name] = torch.randn(extents, dtype=torch.float64)
        shape = stage.shape(shape, trace)
    pipeline = Pipeline(stages)
    assert pipeline.folds()
    torch.testing.assert_close(pipeline.folded(tensors)["y"], pipeline.reference(tensors)["y"])


def test_kept_tensors_come_back() -> None:
    x = torch.randn(3, 4, dtype=torch.float64)
    stages = (Keep("original"), Scale(0.5), Residual("+", "original"), Residual("*", "original"))
    given_tensors = {"x": x}
    assert torch.equal(Pipeline(stages).reference(given_tensors)["y"], (x * 0.5 + x) * x)
    assert list(given_tensors) == ["x"]
    assert bool((Pipeline(stages).magnitude(given_tensors)["y"] >= ((x * 1.5) * x).abs()).all())


def test_dropout_is_random_in_the_reference_alone() -> None:
    x = torch.ones(40, 50)
    pipeline = Pipeline((Linear(), Dropout(0.2)))
    tensors = {"x": x, "weight": torch.eye(50), "bias": torch.zeros(50)}
    first, second = (pipeline.reference(tensors)["y"] for _ in range(2))
    assert not torch.equal(first, second)
    assert set(first.unique().tolist()) == {0.0, 1.25}
    assert 0.7 < float((first > 0).float().mean()) < 0.9
    torch.manual_seed(1)
    again = pipeline.reference(tensors)["y"]
    torch.manual_seed(1)
    assert torch.equal(pipeline.reference(tensors)["y"], again)
    assert torch.equal(
        again, (torch.manual_seed(1) and torch.rand(40, 50) >= 0.2).float() * x / 0.8
    )
    for way in (pipeline.otherwise, pipeline.in_double):
        assert torch.equal(way(tensors)["y"], way(tensors)["y"])


def test_work_and_largest_tensor_are_those_of_the_middle() -> None:
    problem = fused_problem(
        1,
        "made up",
        (Conv(2, 3), Pool("mean", 2, 2), Reduce("sum", (1, 2, 3), keep=False)),
        dimensions=(
            parallel("batch", 8),
            reduced("in_channels", 3),
            reduced("height", 12, minimum=4),
            reduced("width", 14, minimum=4),
            reduced("out_channels", 16),
        ),
        x=("batch", "in_channels", "height", "width"),
        substrates=(Substrate("none", "none.cu", LaunchPlan(())),),
    )
    values = contract(problem)
    assert shape_of(problem.outputs[0], values) == (8,)
    assert held_elements(problem, values) == 8 * 16 * 10 * 12
    tensors = 8 * 3 * 12 * 14 + 16 * 27 + 16 + 8
    assert work(problem, values) == 8 * 16 * 10 * 12 * 27 + tensors
    assert evaluate(problem.reduction_length, values) == 27 + 4 + 16 * 5 * 6
    assert not problem.exact_lattice
    assert problem.operation_class is OperationClass.FUSED


@pytest.mark.parametrize("profile", ["demo", "quick", "full", "contract"])
def test_planned_shapes_are_affordable_and_keep_what_is_summed(
    corpus: Corpus, profile: str
) -> None:
    limits = PROFILES[profile].limits
    for problem in corpus.problems.values():
        if problem.level != 2:
            continue
        planned = plan_shape(problem, limits)
        values = dimensions(problem, planned.sizes(problem))
        assert work(problem, values) <= (limits.max_work or 1 << 27), problem.id
        assert held_elements(problem, values) <= 1 << 28, problem.id
        if profile == "demo":
            # A check of all inputs shall take about a second; some smallest shapes are larger.
            assert held_elements(problem, values) <= 1 << 17, problem.id


def test_level_2_problems_have_what_a_report_needs(corpus: Corpus) -> None:
    found = [problem for problem in corpus.problems.values() if problem.level == 2]
    assert found
    for problem in found:
        assert problem.operation_class is OperationClass.FUSED
        assert [spec.name for spec in problem.outputs] == ["y"]
        assert isinstance(problem.inputs[0], TensorSpec)
        kinds = {control.kind for control in problem.controls}
        assert {"serial", "reversed", "pairwise", "chunked", "fma_off", "eager"} <= kinds
        assert kinds >= {"formula", "wide"}
        assert len(problem.controls) >= 12


def test_a_reference_layer_draws_as_torchs_module_does() -> None:
    torch.manual_seed(42)
    wanted = nn.ConvTranspose3d(4, 6, 3, stride=2, padding=1, output_padding=1)
    torch.manual_seed(42)
    stage = ConvTranspose(3, 3, "out", stride=2, padding=1, output_padding=1)
    made = stage.initialise({"weight": (4, 6, 3, 3, 3), "bias": (6,)})
    assert torch.equal(made["weight"], wanted.weight)
    assert wanted.bias is not None
    assert torch.equal(made["bias"], wanted.bias)
