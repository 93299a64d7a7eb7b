"""KernelBench level 1, problem 49: the largest element along the middle dimension."""

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
    return {"y": torch.max(tensors["x"], dim=1)[0]}


def by_scan(tensors: Tensors) -> Tensors:
    """Go down the rows, some at a time if there are many."""
    x = tensors["x"]
    best = x[:, 0].clone()
    for part in torch.split(x, max(1, x.shape[1] // 128), dim=1):
        best = torch.maximum(best, part.amax(dim=1))
    return {"y": best}


def by_halving(tensors: Tensors) -> Tensors:
    """Fold the upper half of the rows onto the lower half until one is left."""
    x = tensors["x"]
    while x.shape[1] > 1:
        half = (x.shape[1] + 1) // 2
        rest = x.shape[1] - half
        x = torch.cat((torch.maximum(x[:, :rest], x[:, half:]), x[:, rest:half]), dim=1)
    return {"y": x[:, 0].clone()}


def by_parts(tensors: Tensors) -> Tensors:
    """Take the largest of every 64 rows, then of these."""
    parts = [part.amax(dim=1) for part in torch.split(tensors["x"], 64, dim=1)]
    return {"y": torch.stack(parts).amax(dim=0)}


def by_minimum(tensors: Tensors) -> Tensors:
    """Take the smallest of the opposite numbers."""
    return {"y": -(-tensors["x"]).amin(dim=1)}


FOUR_ACCUMULATORS = Substrate(
    name="four-accumulators",
    source="four_accumulators.cu",
    headers=("limits.cuh", "pool_nan.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="max_four_accumulators",
                grid=("ceil_div(dim2, 128)", "batch", ONE),
                block=("128", ONE, ONE),
                arguments=(pointer("x"), pointer("y"), int32("dim1"), int32("dim2")),
            ),
        )
    ),
)

ATOMIC_KEYS = Substrate(
    name="atomic-keys",
    source="atomic_keys.cu",
    headers=("pool_ordered.cuh",),
    plan=LaunchPlan(
        workspaces=(Workspace("keys", "batch * dim2", zeroed=True),),
        steps=(
            Launch(
                kernel="max_keys",
                grid=("ceil_div(dim2, 32)", SPLITS, "batch"),
                block=("32", "4", ONE),
                arguments=(
                    pointer("x"),
                    pointer("keys"),
                    int32("dim1"),
                    int32("dim2"),
                    int32(f"ceil_div(dim1, {SPLITS})"),
                ),
            ),
            Launch(
                kernel="max_values",
                grid=("ceil_div(batch * dim2, 128)", ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(pointer("keys"), pointer("y"), int32("batch * dim2")),
            ),
        ),
    ),
)

PROBLEM = Problem(
    id="level1/049",
    benchmark="kernelbench",
    level=1,
    name="49_Max_reduction_over_a_dimension",
    operation_class=OperationClass.REDUCTION,
    dimensions=(
        Dimension("batch", 128, DimensionKind.PARALLEL),
        Dimension("dim1", 4096, DimensionKind.REDUCED, tile=4),
        Dimension("dim2", 4095, DimensionKind.PARALLEL, tile=128),
    ),
    inputs=(TensorSpec("x", ("batch", "dim1", "dim2")),),
    outputs=(TensorSpec("y", ("batch", "dim2")),),
    reference=reference,
    reduction_length="dim1",
    rounds=False,
    substrates=(FOUR_ACCUMULATORS, ATOMIC_KEYS),
    controls=(
        Control("scan", "serial", run=by_scan, identical=True),
        Control("halving", "tree", run=by_halving, identical=True),
        Control("parts-64", "chunked", run=by_parts, identical=True),
        Control("minimum", "negated", run=by_minimum, identical=True),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
