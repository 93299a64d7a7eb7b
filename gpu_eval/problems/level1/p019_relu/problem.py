"""KernelBench level 1, problem 19: ReLU of a matrix."""

import torch

from gpu_eval.problems.definition import (
    Control,
    Dimension,
    DimensionKind,
    Problem,
    Substrate,
    Tensors,
    TensorSpec,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, int64, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"y": torch.relu(tensors["x"])}


def by_select(tensors: Tensors) -> Tensors:
    """Put 0 where the input is negative; NaN is not negative."""
    x = tensors["x"]
    return {"y": torch.where(x < 0, torch.zeros_like(x), x)}


def by_clamp(tensors: Tensors) -> Tensors:
    """Clamp from below."""
    return {"y": tensors["x"].clamp(min=0)}


def by_halving(tensors: Tensors) -> Tensors:
    """Average x and its absolute value, from halves, so that nothing overflows.

    A half of a denormal may round, the sum of two halves of a normal number does not; denormals
    therefore take the plain way. Infinity minus infinity would be NaN: they do too.
    """
    x = tensors["x"]
    ordinary = torch.isfinite(x) & (x.abs() >= 2 * torch.finfo(x.dtype).tiny)
    return {"y": torch.where(ordinary, x * 0.5 + x.abs() * 0.5, x.clamp(min=0))}


VECTORISED = Substrate(
    name="vectorised",
    source="vectorised.cu",
    plan=LaunchPlan(
        steps=(
            # Half as many threads as there are vectors: the grid-stride loop runs twice.
            Launch(
                kernel="relu_vectorised",
                grid=("ceil_div(rows * cols, 1024)", ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(pointer("x"), pointer("y"), int64("rows * cols")),
            ),
        )
    ),
)

SCALAR = Substrate(
    name="scalar",
    source="scalar.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="relu_scalar",
                grid=("ceil_div(cols, 256)", "rows", ONE),
                block=("256", ONE, ONE),
                arguments=(pointer("x"), pointer("y"), int32("rows"), int32("cols")),
            ),
        )
    ),
)

PROBLEM = Problem(
    id="level1/019",
    benchmark="kernelbench",
    level=1,
    name="19_ReLU",
    operation_class=OperationClass.ELEMENTWISE,
    # The vectorised kernel sees one flat array in steps of 1,024: 4 x 256 keeps that product.
    dimensions=(
        Dimension("rows", 4096, DimensionKind.PARALLEL, tile=4),
        Dimension("cols", 393216, DimensionKind.PARALLEL, tile=256),
    ),
    inputs=(TensorSpec("x", ("rows", "cols")),),
    outputs=(TensorSpec("y", ("rows", "cols")),),
    reference=reference,
    rounds=False,
    substrates=(VECTORISED, SCALAR),
    controls=(
        Control("select", "select", run=by_select, identical=True),
        Control("clamp", "clamp", run=by_clamp, identical=True),
        Control("halving", "algorithm", run=by_halving, identical=True),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
