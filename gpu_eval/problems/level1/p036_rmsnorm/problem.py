"""KernelBench level 1, problem 36: RMS normalisation over the features of images."""

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
from gpu_eval.problems.orders import Order, Terms, ordered_controls
from gpu_eval.problems.plan import Argument, Launch, LaunchPlan, float32, int32, int64, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
EPS = 1e-5
SHAPE = ("batch", "features", "dim1", "dim2")
GRID = ("ceil_div(positions, 16)", ONE, ONE)


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    x = tensors["x"]
    return {"y": x / torch.sqrt(torch.mean(x**2, dim=1, keepdim=True) + EPS)}


def in_order(tensors: Tensors, order: Order) -> Tensors:
    """Sum the squares in a given order."""
    x = tensors["x"]
    squares = Terms((x * x).transpose(0, 1))
    mean = order(squares, x.shape[1]) / x.shape[1]
    return {"y": x * torch.rsqrt(mean + EPS)[:, None]}


def by_norm(tensors: Tensors) -> Tensors:
    """Take the library's Euclidean norm and square it again."""
    x = tensors["x"]
    norm = torch.linalg.vector_norm(x, dim=1, keepdim=True)
    return {"y": x / torch.sqrt(norm * norm / x.shape[1] + EPS)}


def by_roots(tensors: Tensors) -> Tensors:
    """Scale x by the root of the count before squaring, so that squares add up to the mean."""
    x = tensors["x"]
    scaled = x * (1 / x.shape[1]) ** 0.5
    return {"y": x * (scaled.square().sum(dim=1, keepdim=True) + EPS).pow(-0.5)}


ARGUMENTS: tuple[Argument, ...] = (
    pointer("x"),
    pointer("y"),
    int32("features"),
    int64("pixels"),
    int64("positions"),
    float32("eps"),
)

STRIDED = Substrate(
    name="strided",
    source="strided.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="rmsnorm_strided", grid=GRID, block=("16", "8", ONE), arguments=ARGUMENTS
            ),
        )
    ),
)

STAGED = Substrate(
    name="staged",
    source="staged.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="rmsnorm_staged",
                grid=GRID,
                block=("128", ONE, ONE),
                shared="4 * 16 * (features + 8)",
                arguments=ARGUMENTS,
            ),
        )
    ),
)

PROBLEM = Problem(
    id="level1/036",
    benchmark="kernelbench",
    level=1,
    name="36_RMSNorm_",
    operation_class=OperationClass.NORMALIZATION,
    # Blocks of 16 positions run across images: 4 x 4 keeps that product. Eight lanes share the
    # features of a position.
    dimensions=(
        Dimension("batch", 112, DimensionKind.PARALLEL),
        Dimension("features", 64, DimensionKind.REDUCED, tile=8),
        Dimension("dim1", 512, DimensionKind.PARALLEL, tile=4),
        Dimension("dim2", 512, DimensionKind.PARALLEL, tile=4),
    ),
    derived={"pixels": "dim1 * dim2", "positions": "batch * pixels"},
    scalars={"eps": EPS},
    inputs=(TensorSpec("x", SHAPE),),
    outputs=(TensorSpec("y", SHAPE),),
    reference=reference,
    reduction_length="features",
    substrates=(STRIDED, STAGED),
    controls=(
        *ordered_controls(in_order),
        Control("norm", "algorithm", run=by_norm),
        Control("roots", "scaling", run=by_roots),
        Control("fma-off", "fma_off", substrate=STRIDED, flags=("-ffp-contract=off",)),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
