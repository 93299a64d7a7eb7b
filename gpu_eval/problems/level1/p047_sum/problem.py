"""KernelBench level 1, problem 47: the sum over the middle one of three dimensions."""

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
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
# At least 256 rows a block where there are that many, at least two blocks a column always.
SPLITS = "max(2, min(16, ceil_div(dim1, 256)))"
LENGTH = f"ceil_div(dim1, {SPLITS})"


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"y": torch.sum(tensors["x"], dim=1, keepdim=True)}


def magnitude(tensors: Tensors) -> Tensors:
    """Sum the absolute values."""
    return {"y": torch.sum(tensors["x"].abs(), dim=1, keepdim=True)}


def in_order(tensors: Tensors, order: Order) -> Tensors:
    """Add the rows in a given order."""
    x = tensors["x"]
    return {"y": order(Terms(x.transpose(0, 1)), x.shape[1])[:, None]}


def by_product(tensors: Tensors) -> Tensors:
    """Multiply by a row of ones."""
    x = tensors["x"]
    return {"y": torch.ones_like(x[:, :, 0])[:, None] @ x}


def by_halving(tensors: Tensors) -> Tensors:
    """Add the upper half of the rows to the lower half until one is left."""
    x = tensors["x"]
    while x.shape[1] > 1:
        half = (x.shape[1] + 1) // 2
        folded = x[:, :half].clone()
        folded[:, : x.shape[1] - half] += x[:, half:]
        x = folded
    return {"y": x.clone()}


COLUMNS = Substrate(
    name="columns",
    source="columns.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="sum_columns",
                grid=("ceil_div(dim2, 32)", "batch", ONE),
                block=("32", "8", ONE),
                arguments=(pointer("x"), pointer("y"), int32("dim1"), int32("dim2")),
            ),
        )
    ),
)

SPLIT = Substrate(
    name="split",
    source="split.cu",
    plan=LaunchPlan(
        workspaces=(Workspace("partial", f"batch * {SPLITS} * dim2"),),
        steps=(
            Launch(
                kernel="sum_partial",
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
                kernel="sum_combine",
                grid=("ceil_div(batch * dim2, 128)", ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("partial"),
                    pointer("y"),
                    int32("batch * dim2"),
                    int32("dim2"),
                    int32(SPLITS),
                ),
            ),
        ),
    ),
)

PROBLEM = Problem(
    id="level1/047",
    benchmark="kernelbench",
    level=1,
    name="47_Sum_reduction_over_a_dimension",
    operation_class=OperationClass.REDUCTION,
    dimensions=(
        Dimension("batch", 128, DimensionKind.PARALLEL),
        Dimension("dim1", 4096, DimensionKind.REDUCED, tile=32),
        Dimension("dim2", 4095, DimensionKind.PARALLEL, tile=128),
    ),
    inputs=(TensorSpec("x", ("batch", "dim1", "dim2")),),
    outputs=(TensorSpec("y", ("batch", ONE, "dim2")),),
    reference=reference,
    magnitude=magnitude,
    reduction_length="dim1",
    exact_lattice=True,
    substrates=(COLUMNS, SPLIT),
    controls=(
        *ordered_controls(in_order),
        Control("product", "algorithm", run=by_product),
        Control("halving", "tree", run=by_halving),
        Control("fma-off", "fma_off", substrate=COLUMNS, flags=("-ffp-contract=off",)),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
