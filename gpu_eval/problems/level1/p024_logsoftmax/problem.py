"""KernelBench level 1, problem 24: the logarithm of softmax along the rows of a matrix."""

import torch

from gpu_eval.problems.blind.level1_024 import control as from_the_contract
from gpu_eval.problems.definition import (
    Control,
    Dimension,
    DimensionKind,
    Problem,
    Substrate,
    Tensors,
    TensorSpec,
)
from gpu_eval.problems.orders import Order, ordered_controls, terms_of_rows
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
THREADS = "128"
# At least 1,024 columns a block where there are that many, at least two blocks a row always.
PARTS = "max(2, min(64, ceil_div(cols, 1024)))"
LENGTH = f"ceil_div(cols, {PARTS})"
# Four-element loads where rows begin at multiples of four.
VECTORS = "(cols % 4 == 0) * (cols // 4)"


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"y": torch.log_softmax(tensors["x"], dim=1)}


def in_order(tensors: Tensors, order: Order) -> Tensors:
    """Sum the exponentials in a given order."""
    x = tensors["x"]
    below = x - x.amax(dim=1, keepdim=True)
    total = order(terms_of_rows(torch.exp(below)), x.shape[1])
    return {"y": below - torch.log(total)[:, None]}


def by_exp2(tensors: Tensors) -> Tensors:
    """Use powers and logarithms of two."""
    x = tensors["x"]
    log2_e, log_2 = 1.4426950408889634, 0.6931471805599453
    below = x - x.amax(dim=1, keepdim=True)
    total = torch.exp2(below * log2_e).sum(dim=1, keepdim=True)
    return {"y": below - torch.log2(total) * log_2}


def by_others(tensors: Tensors) -> Tensors:
    """Sum without the largest term, which is exactly one, and take log1p."""
    x = tensors["x"]
    largest, place = x.max(dim=1, keepdim=True)
    others = torch.exp(x - largest).scatter(1, place, 0.0).sum(dim=1, keepdim=True)
    return {"y": (x - largest) - torch.log1p(others)}


def by_library(tensors: Tensors) -> Tensors:
    """Subtract the library's log-sum-exp of what is below the maximum."""
    x = tensors["x"]
    below = x - x.amax(dim=1, keepdim=True)
    return {"y": below - torch.logsumexp(below, dim=1, keepdim=True)}


def by_online_chunks(tensors: Tensors) -> Tensors:
    """Keep a running maximum and a rescaled running sum over chunks of 32 columns.

    Very long rows go in 128 chunks.
    """
    x = tensors["x"]
    largest = torch.full_like(x[:, :1], torch.finfo(x.dtype).min)
    total = torch.zeros_like(largest)
    for chunk in torch.split(x, max(32, x.shape[1] // 128), dim=1):
        grown = torch.maximum(largest, chunk.amax(dim=1, keepdim=True))
        part = torch.exp(chunk - grown).sum(dim=1, keepdim=True)
        total = total * torch.exp(largest - grown) + part
        largest = grown
    return {"y": (x - largest) - torch.log(total)}


ONLINE = Substrate(
    name="online",
    source="online.cu",
    headers=("limits.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="logsoftmax_online",
                grid=("rows", ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(pointer("x"), pointer("y"), int32("cols"), int32(VECTORS)),
            ),
        )
    ),
)

SPLIT = Substrate(
    name="split",
    source="split.cu",
    headers=("limits.cuh", "warp_reduce.cuh", "block_reduce.cuh"),
    plan=LaunchPlan(
        workspaces=(
            Workspace("part_max", f"rows * {PARTS}"),
            Workspace("part_sum", f"rows * {PARTS}"),
            Workspace("row_max", "rows"),
            Workspace("row_log", "rows"),
        ),
        steps=(
            Launch(
                kernel="logsoftmax_parts",
                grid=(PARTS, "rows", ONE),
                block=(THREADS, ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("part_max"),
                    pointer("part_sum"),
                    int32("cols"),
                    int32(LENGTH),
                ),
            ),
            Launch(
                kernel="logsoftmax_rows",
                grid=("ceil_div(rows, 4)", ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(
                    pointer("part_max"),
                    pointer("part_sum"),
                    pointer("row_max"),
                    pointer("row_log"),
                    int32("rows"),
                    int32(PARTS),
                ),
            ),
            Launch(
                kernel="logsoftmax_subtract",
                grid=(PARTS, "rows", ONE),
                block=(THREADS, ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("row_max"),
                    pointer("row_log"),
                    pointer("y"),
                    int32("cols"),
                    int32(LENGTH),
                ),
            ),
        ),
    ),
)

PROBLEM = Problem(
    id="level1/024",
    benchmark="kernelbench",
    level=1,
    name="24_LogSoftmax",
    operation_class=OperationClass.SOFTMAX,
    dimensions=(
        Dimension("rows", 4096, DimensionKind.PARALLEL, tile=4),
        Dimension("cols", 393216, DimensionKind.REDUCED, tile=128),
    ),
    inputs=(TensorSpec("x", ("rows", "cols")),),
    outputs=(TensorSpec("y", ("rows", "cols")),),
    reference=reference,
    reduction_length="cols",
    substrates=(ONLINE, SPLIT),
    controls=(
        *ordered_controls(in_order),
        Control("exp2", "algorithm", run=by_exp2),
        Control("others", "log1p", run=by_others),
        Control("logsumexp", "library", run=by_library),
        Control("online-32", "online", run=by_online_chunks),
        Control("fma-off", "fma_off", substrate=ONLINE, flags=("-ffp-contract=off",)),
        Control("from-the-contract", "blind", run=from_the_contract, blind=True),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
