"""KernelBench level 1, problem 23: softmax along the rows of a matrix."""

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
from gpu_eval.problems.orders import Order, ordered_controls, terms_of_rows
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
THREADS = "128"


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"y": torch.softmax(tensors["x"], dim=1)}


def in_order(tensors: Tensors, order: Order) -> Tensors:
    """Divide the exponentials by their sum in a given order."""
    x = tensors["x"]
    exponentials = torch.exp(x - x.amax(dim=1, keepdim=True))
    total = order(terms_of_rows(exponentials), x.shape[1])
    return {"y": exponentials / total[:, None]}


def by_exp2(tensors: Tensors) -> Tensors:
    """Use powers of two and multiply by the reciprocal, as fast implementations do.

    The logits' differences are scaled after the subtraction, so that their rounding stays
    relative to the distance from the maximum.
    """
    x = tensors["x"]
    log2_e = 1.4426950408889634
    exponentials = torch.exp2((x - x.amax(dim=1, keepdim=True)) * log2_e)
    return {"y": exponentials * exponentials.sum(dim=1, keepdim=True).reciprocal()}


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
    return {"y": torch.exp(x - largest) / total}


ONLINE = Substrate(
    name="online",
    source="online.cu",
    headers=("limits.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="softmax_online",
                grid=("rows", ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(pointer("x"), pointer("y"), int32("cols")),
            ),
        )
    ),
)

THREE_PASS = Substrate(
    name="three-pass",
    source="three_pass.cu",
    headers=("limits.cuh", "tree_reduce.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="softmax_three_pass",
                grid=("rows", ONE, ONE),
                block=(THREADS, ONE, ONE),
                shared="4 * 128",
                arguments=(pointer("x"), pointer("y"), int32("cols")),
            ),
        )
    ),
)

PROBLEM = Problem(
    id="level1/023",
    benchmark="kernelbench",
    level=1,
    name="23_Softmax",
    operation_class=OperationClass.SOFTMAX,
    dimensions=(
        Dimension("rows", 4096, DimensionKind.PARALLEL),
        Dimension("cols", 393216, DimensionKind.REDUCED, tile=128),
    ),
    inputs=(TensorSpec("x", ("rows", "cols")),),
    outputs=(TensorSpec("y", ("rows", "cols")),),
    reference=reference,
    reduction_length="cols",
    substrates=(ONLINE, THREE_PASS),
    controls=(
        *ordered_controls(in_order),
        Control("exp2", "algorithm", run=by_exp2),
        Control("online-32", "online", run=by_online_chunks),
        Control("fma-off", "fma_off", substrate=ONLINE, flags=("-ffp-contract=off",)),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
