"""KernelBench level 1, problem 51: the index of the largest element along the middle dimension."""

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
LENGTH = f"ceil_div(dim1, {SPLITS})"


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"y": torch.argmax(tensors["x"], dim=1)}


def value_of(tensors: Tensors, outputs: Tensors) -> Tensors:
    """Return the elements that the indices choose."""
    return {"y": values_at(tensors["x"], outputs["y"], 1)}


def by_scan(tensors: Tensors) -> Tensors:
    """Go down the rows, some at a time if there are many, and keep the first of the largest."""
    x, first = tensors["x"], 0
    best, place = x[:, 0], torch.zeros_like(x[:, 0], dtype=torch.int64)
    for part in torch.split(x, max(1, x.shape[1] // 128), dim=1):
        value = part.amax(dim=1)
        # Which of equal rows the library's search names is not promised.
        hit = (part == value[:, None]) | (part.isnan() & value.isnan()[:, None])
        rows = torch.arange(part.shape[1], device=x.device)[:, None]
        index = rows.where(hit, part.shape[1]).amin(dim=1)
        grown = (value > best) | (value.isnan() & ~best.isnan())
        best, place = value.where(grown, best), (first + index).where(grown, place)
        first += part.shape[1]
    return {"y": place}


def by_equality(tensors: Tensors) -> Tensors:
    """Look for the first element that equals the maximum."""
    x = tensors["x"]
    largest = x.amax(dim=1, keepdim=True)
    hit = (x == largest) | (x.isnan() & largest.isnan())
    rows = torch.arange(x.shape[1], device=x.device)[:, None]
    return {"y": rows.where(hit, x.shape[1]).amin(dim=1)}


def by_tournament(tensors: Tensors) -> Tensors:
    """Play the upper half of the rows against the lower half until one is left."""
    value = tensors["x"]
    place = torch.arange(value.shape[1], device=value.device)[:, None].expand(value.shape)
    while value.shape[1] > 1:
        half = (value.shape[1] + 1) // 2
        rest = value.shape[1] - half
        low, high = value[:, :rest], value[:, half:]
        wins = (high > low) | (high.isnan() & ~low.isnan())
        # Halves are not in the order of the rows after the first round: of equals the smaller.
        equal = (high == low) | (high.isnan() & low.isnan())
        wins = wins | (equal & (place[:, half:] < place[:, :rest]))
        value = torch.cat((high.where(wins, low), value[:, rest:half]), dim=1)
        place = torch.cat(
            (place[:, half:].where(wins, place[:, :rest]), place[:, rest:half]), dim=1
        )
    return {"y": place[:, 0].contiguous()}


def by_last(tensors: Tensors) -> Tensors:
    """Search from the end: of equal elements the last one, which is as large."""
    x = tensors["x"]
    return {"y": x.shape[1] - 1 - torch.argmax(x.flip(1), dim=1)}


COLUMNS = Substrate(
    name="columns",
    source="columns.cu",
    headers=("arg_max.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="argmax_columns",
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
    headers=("arg_max.cuh",),
    plan=LaunchPlan(
        workspaces=(
            Workspace("values", f"batch * {SPLITS} * dim2"),
            Workspace("indices", f"batch * {SPLITS} * dim2"),
        ),
        steps=(
            Launch(
                kernel="argmax_partial",
                grid=("ceil_div(dim2, 128)", SPLITS, "batch"),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("values"),
                    pointer("indices"),
                    int32("dim1"),
                    int32("dim2"),
                    int32(LENGTH),
                ),
            ),
            Launch(
                kernel="argmax_combine",
                grid=("ceil_div(batch * dim2, 128)", ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("values"),
                    pointer("indices"),
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
    id="level1/051",
    benchmark="kernelbench",
    level=1,
    name="51_Argmax_over_a_dimension",
    operation_class=OperationClass.ARGUMENT_REDUCTION,
    dimensions=(
        Dimension("batch", 128, DimensionKind.PARALLEL),
        Dimension("dim1", 4096, DimensionKind.REDUCED, tile=32),
        Dimension("dim2", 4095, DimensionKind.PARALLEL, tile=128),
    ),
    inputs=(TensorSpec("x", ("batch", "dim1", "dim2")),),
    outputs=(TensorSpec("y", ("batch", "dim2"), dtype="int64"),),
    reference=reference,
    reduction_length="dim1",
    rounds=False,
    value_of=value_of,
    substrates=(COLUMNS, SPLIT),
    controls=(
        Control("scan", "serial", run=by_scan, identical=True),
        Control("equality", "algorithm", run=by_equality, identical=True),
        Control("tournament", "tree", run=by_tournament, identical=True),
        Control("last", "reversed", run=by_last),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
