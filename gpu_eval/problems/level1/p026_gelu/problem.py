"""KernelBench level 1, problem 26: GELU of a matrix, with the error function."""

import math

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
ROOT_2 = math.sqrt(2.0)


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"y": torch.nn.functional.gelu(tensors["x"])}


def by_halves(tensors: Tensors) -> Tensors:
    """Multiply out: x / 2 + x / 2 erf(x / sqrt 2)."""
    half = tensors["x"] * 0.5
    return {"y": half + half * torch.erf(tensors["x"] * (1 / ROOT_2))}


def by_division(tensors: Tensors) -> Tensors:
    """Divide by the root of two, and halve the share before it is multiplied."""
    x = tensors["x"]
    return {"y": x * ((1 + torch.erf(x / ROOT_2)) / 2)}


def by_complement(tensors: Tensors) -> Tensors:
    """Use the complementary error function, which keeps the digits of a small tail."""
    x = tensors["x"]
    return {"y": x * (torch.erfc(x * (-1 / ROOT_2)) * 0.5)}


def by_distribution(tensors: Tensors) -> Tensors:
    """Use the normal distribution function."""
    return {"y": tensors["x"] * torch.special.ndtr(tensors["x"])}


VECTORISED = Substrate(
    name="vectorised",
    source="vectorised.cu",
    plan=LaunchPlan(
        steps=(
            # Half as many threads as there are vectors: the grid-stride loop runs twice.
            Launch(
                kernel="gelu_vectorised",
                grid=("ceil_div(rows * cols, 1024)", ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(pointer("x"), pointer("y"), int64("rows * cols")),
            ),
        )
    ),
)

COMPLEMENT = Substrate(
    name="complement",
    source="complement.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="gelu_complement",
                grid=("ceil_div(cols, 256)", "rows", ONE),
                block=("128", ONE, ONE),
                arguments=(pointer("x"), pointer("y"), int32("rows"), int32("cols")),
            ),
        )
    ),
)

PROBLEM = Problem(
    id="level1/026",
    benchmark="kernelbench",
    level=1,
    name="26_GELU_",
    operation_class=OperationClass.ELEMENTWISE,
    # The vectorised kernel sees one flat array in steps of 1,024: 4 x 256 keeps that product.
    dimensions=(
        Dimension("rows", 4096, DimensionKind.PARALLEL, tile=4),
        Dimension("cols", 393216, DimensionKind.PARALLEL, tile=256),
    ),
    inputs=(TensorSpec("x", ("rows", "cols")),),
    outputs=(TensorSpec("y", ("rows", "cols")),),
    reference=reference,
    substrates=(VECTORISED, COMPLEMENT),
    controls=(
        Control("halves", "order", run=by_halves),
        Control("division", "division", run=by_division),
        Control("erfc", "algorithm", run=by_complement),
        Control("distribution", "distribution", run=by_distribution),
        Control("fma-off", "fma_off", substrate=VECTORISED, flags=("-ffp-contract=off",)),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
