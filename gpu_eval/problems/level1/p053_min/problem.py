"""KernelBench level 1, problem 53: the smallest element along the middle dimension."""

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
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
# At least 128 rows a block where there are that many, at least two blocks a column always.
SPLITS = "max(2, min(32, ceil_div(dim1, 128)))"


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"y": torch.min(tensors["x"], dim=1)[0]}


def from_below(tensors: Tensors) -> Tensors:
    """Go up from the last row, some at a time if there are many."""
    x = tensors["x"]
    least = x[:, -1].clone()
    for part in reversed(torch.split(x, max(1, x.shape[1] // 128), dim=1)):
        least = torch.minimum(least, part.amin(dim=1))
    return {"y": least}


def by_neighbours(tensors: Tensors) -> Tensors:
    """Take the smaller of neighbours until one row is left."""
    x = tensors["x"]
    while x.shape[1] > 1:
        odd = x[:, x.shape[1] // 2 * 2 :]
        x = torch.cat((torch.minimum(x[:, : -1 if odd.numel() else None : 2], x[:, 1::2]), odd), 1)
    return {"y": x[:, 0].clone()}


def by_running_minimum(tensors: Tensors) -> Tensors:
    """Take the last of the running minima."""
    return {"y": tensors["x"].cummin(dim=1).values[:, -1].contiguous()}


def by_parts(tensors: Tensors) -> Tensors:
    """Take the smallest of every 32 rows, then of these."""
    parts = [part.amin(dim=1) for part in torch.split(tensors["x"], 32, dim=1)]
    return {"y": torch.stack(parts).amin(dim=0)}


TRANSPOSED = Substrate(
    name="transposed",
    source="transposed.cu",
    headers=("limits.cuh", "pool_nan.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="min_transposed",
                grid=("ceil_div(dim2, 32)", "batch", ONE),
                block=("32", "8", ONE),
                arguments=(pointer("x"), pointer("y"), int32("dim1"), int32("dim2")),
            ),
        )
    ),
)

TWO_STAGE = Substrate(
    name="two-stage",
    source="two_stage.cu",
    headers=("limits.cuh",),
    plan=LaunchPlan(
        workspaces=(Workspace("partial", f"batch * {SPLITS} * dim2"),),
        steps=(
            Launch(
                kernel="min_partial",
                grid=("ceil_div(dim2, 128)", SPLITS, "batch"),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("partial"),
                    int32("dim1"),
                    int32("dim2"),
                    int32(f"ceil_div(dim1, {SPLITS})"),
                ),
            ),
            Launch(
                kernel="min_combine",
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
    id="level1/053",
    benchmark="kernelbench",
    level=1,
    name="53_Min_reduction_over_a_dimension",
    operation_class=OperationClass.REDUCTION,
    dimensions=(
        Dimension("batch", 128, DimensionKind.PARALLEL),
        Dimension("dim1", 4096, DimensionKind.REDUCED, tile=32),
        Dimension("dim2", 4095, DimensionKind.PARALLEL, tile=128),
    ),
    inputs=(TensorSpec("x", ("batch", "dim1", "dim2")),),
    outputs=(TensorSpec("y", ("batch", "dim2")),),
    reference=reference,
    reduction_length="dim1",
    rounds=False,
    substrates=(TRANSPOSED, TWO_STAGE),
    controls=(
        Control("from-below", "reversed", run=from_below, identical=True),
        Control("neighbours", "pairwise", run=by_neighbours, identical=True),
        Control("running", "serial", run=by_running_minimum, identical=True),
        Control("parts-32", "chunked", run=by_parts, identical=True),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
