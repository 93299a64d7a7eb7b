"""KernelBench level 1, problem 48: the mean over the middle one of three dimensions."""

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
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
# At least 128 rows a block where there are that many, at least two blocks a column always.
SPLITS = "max(2, min(16, ceil_div(dim1, 128)))"
LENGTH = f"ceil_div(dim1, {SPLITS})"


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"y": torch.mean(tensors["x"], dim=1)}


def magnitude(tensors: Tensors) -> Tensors:
    """Average the absolute values."""
    return {"y": torch.mean(tensors["x"].abs(), dim=1)}


def in_order(tensors: Tensors, order: Order) -> Tensors:
    """Add the rows in a given order and divide by their number."""
    x = tensors["x"]
    return {"y": order(Terms(x.transpose(0, 1)), x.shape[1]) / x.shape[1]}


def by_product(tensors: Tensors) -> Tensors:
    """Multiply by a row of equal shares."""
    x = tensors["x"]
    shares = torch.full_like(x[:, :, 0], 1 / x.shape[1])
    return {"y": (shares[:, None] @ x)[:, 0]}


def by_running_mean(tensors: Tensors) -> Tensors:
    """Move a mean towards each row by its share of the difference."""
    rows = tensors["x"].unbind(1)
    mean = rows[0].clone()
    for count, row in enumerate(rows[1:], start=2):
        mean += (row - mean) / count
    return {"y": mean}


def by_means_of_parts(tensors: Tensors) -> Tensors:
    """Take the mean of 16 rows at a time, and weigh these means by how many rows they stand for."""
    x = tensors["x"]
    total = torch.zeros_like(x[:, 0])
    for part in torch.split(x, 16, dim=1):
        total += part.mean(dim=1) * (part.shape[1] / x.shape[1])
    return {"y": total}


COMPENSATED = Substrate(
    name="compensated",
    source="compensated.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="mean_compensated",
                grid=("ceil_div(dim2, 32)", "batch", ONE),
                block=("32", "8", ONE),
                arguments=(pointer("x"), pointer("y"), int32("dim1"), int32("dim2")),
            ),
        )
    ),
)

FOUR_COLUMNS = Substrate(
    name="four-columns",
    source="four_columns.cu",
    plan=LaunchPlan(
        workspaces=(Workspace("partial", f"batch * {SPLITS} * dim2"),),
        steps=(
            Launch(
                kernel="mean_four_columns",
                grid=("ceil_div(dim2, 128)", SPLITS, "batch"),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("partial"),
                    int32("dim1"),
                    int32("dim2"),
                    int32(LENGTH),
                ),
            ),
            Launch(
                kernel="mean_combine",
                grid=("ceil_div(batch * dim2, 128)", ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("partial"),
                    pointer("y"),
                    int32("batch * dim2"),
                    int32("dim2"),
                    int32(SPLITS),
                    float32("1 / dim1"),
                ),
            ),
        ),
    ),
)

ATOMICS = Substrate(
    name="atomics",
    source="atomics.cu",
    plan=LaunchPlan(
        workspaces=(Workspace("sums", "batch * dim2", zeroed=True),),
        steps=(
            Launch(
                kernel="mean_add",
                grid=("ceil_div(dim2, 128)", SPLITS, "batch"),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("sums"),
                    int32("dim1"),
                    int32("dim2"),
                    int32(LENGTH),
                ),
            ),
            Launch(
                kernel="mean_divide",
                grid=("ceil_div(batch * dim2, 128)", ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(pointer("sums"), pointer("y"), int32("batch * dim2"), int32("dim1")),
            ),
        ),
    ),
)

PROBLEM = Problem(
    id="level1/048",
    benchmark="kernelbench",
    level=1,
    name="48_Mean_reduction_over_a_dimension",
    operation_class=OperationClass.REDUCTION,
    dimensions=(
        Dimension("batch", 128, DimensionKind.PARALLEL),
        Dimension("dim1", 4096, DimensionKind.REDUCED, tile=32),
        Dimension("dim2", 4095, DimensionKind.PARALLEL, tile=128),
    ),
    inputs=(TensorSpec("x", ("batch", "dim1", "dim2")),),
    outputs=(TensorSpec("y", ("batch", "dim2")),),
    reference=reference,
    magnitude=magnitude,
    # Not an exact lattice: a sum of integers is exact, its quotient by most row counts is not.
    reduction_length="dim1",
    substrates=(COMPENSATED, FOUR_COLUMNS),
    controls=(
        *ordered_controls(in_order),
        Control("product", "algorithm", run=by_product),
        Control("running-mean", "running", run=by_running_mean),
        Control("means-16", "tile", run=by_means_of_parts),
        Control("atomics", "atomics", substrate=ATOMICS),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
