"""KernelBench level 1, problem 52: the index of the smallest element along the middle dimension."""

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
from gpu_eval.problems.tensors import values_at
from suiteopt.matrix.schema import OperationClass

ONE = "1"
# At least 256 rows a block where there are that many, at least two blocks a column always.
SPLITS = "max(2, min(16, ceil_div(dim1, 256)))"


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"y": torch.argmin(tensors["x"], dim=1)}


def value_of(tensors: Tensors, outputs: Tensors) -> Tensors:
    """Return the elements that the indices choose."""
    return {"y": values_at(tensors["x"], outputs["y"], 1)}


def by_scan(tensors: Tensors) -> Tensors:
    """Go down the rows, some at a time if there are many, and keep the first of the smallest."""
    x, first = tensors["x"], 0
    best, place = x[:, 0], torch.zeros_like(x[:, 0], dtype=torch.int64)
    for part in torch.split(x, max(1, x.shape[1] // 128), dim=1):
        value = part.amin(dim=1)
        # Which of equal rows the library's search names is not promised.
        hit = (part == value[:, None]) | (part.isnan() & value.isnan()[:, None])
        rows = torch.arange(part.shape[1], device=x.device)[:, None]
        index = rows.where(hit, part.shape[1]).amin(dim=1)
        less = (value < best) | (value.isnan() & ~best.isnan())
        best, place = value.where(less, best), (first + index).where(less, place)
        first += part.shape[1]
    return {"y": place}


def by_equality(tensors: Tensors) -> Tensors:
    """Count the rows before the first that equals the minimum."""
    x = tensors["x"]
    least = x.amin(dim=1, keepdim=True)
    hit = (x == least) | (x.isnan() & least.isnan())
    return {"y": (hit.cumsum(dim=1, dtype=torch.int32) == 0).sum(dim=1)}


def by_opposite(tensors: Tensors) -> Tensors:
    """Look for the largest of the opposite numbers."""
    return {"y": torch.argmax(-tensors["x"], dim=1)}


def by_parts(tensors: Tensors) -> Tensors:
    """Choose among every 32 rows, then among the chosen, which keep the rows' order."""
    x = tensors["x"]
    first, chosen, values = 0, [], []
    for part in torch.split(x, 32, dim=1):
        place = part.argmin(dim=1, keepdim=True)
        chosen.append(place + first)
        values.append(part.gather(1, place))
        first += part.shape[1]
    best = torch.cat(values, dim=1).argmin(dim=1, keepdim=True)
    return {"y": torch.cat(chosen, dim=1).gather(1, best)[:, 0]}


def by_last(tensors: Tensors) -> Tensors:
    """Search from the end: of equal elements the last one, which is as small."""
    x = tensors["x"]
    return {"y": x.shape[1] - 1 - torch.argmin(x.flip(1), dim=1)}


ROW_PARTS = Substrate(
    name="row-parts",
    source="row_parts.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="argmin_row_parts",
                grid=("ceil_div(dim2, 32)", "batch", ONE),
                block=("32", "8", ONE),
                arguments=(pointer("x"), pointer("y"), int32("dim1"), int32("dim2")),
            ),
        )
    ),
)

PACKED_KEYS = Substrate(
    name="packed-keys",
    source="packed_keys.cu",
    headers=("pool_ordered.cuh",),
    plan=LaunchPlan(
        # Eight bytes a key.
        workspaces=(Workspace("keys", "2 * batch * dim2", zeroed=True),),
        steps=(
            Launch(
                kernel="argmin_keys",
                grid=("ceil_div(dim2, 128)", SPLITS, "batch"),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("keys"),
                    int32("dim1"),
                    int32("dim2"),
                    int32(f"ceil_div(dim1, {SPLITS})"),
                ),
            ),
            Launch(
                kernel="argmin_places",
                grid=("ceil_div(batch * dim2, 128)", ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(pointer("keys"), pointer("y"), int32("batch * dim2")),
            ),
        ),
    ),
)

PROBLEM = Problem(
    id="level1/052",
    benchmark="kernelbench",
    level=1,
    name="52_Argmin_over_a_dimension",
    operation_class=OperationClass.ARGUMENT_REDUCTION,
    dimensions=(
        Dimension("batch", 128, DimensionKind.PARALLEL),
        Dimension("dim1", 4096, DimensionKind.REDUCED, tile=8),
        Dimension("dim2", 4095, DimensionKind.PARALLEL, tile=128),
    ),
    inputs=(TensorSpec("x", ("batch", "dim1", "dim2")),),
    outputs=(TensorSpec("y", ("batch", "dim2"), dtype="int64"),),
    reference=reference,
    reduction_length="dim1",
    rounds=False,
    value_of=value_of,
    substrates=(ROW_PARTS, PACKED_KEYS),
    controls=(
        Control("scan", "serial", run=by_scan, identical=True),
        Control("equality", "algorithm", run=by_equality, identical=True),
        Control("opposite", "negated", run=by_opposite, identical=True),
        Control("parts", "chunked", run=by_parts, identical=True),
        Control("last", "reversed", run=by_last),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
