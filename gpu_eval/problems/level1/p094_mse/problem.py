"""KernelBench level 1, problem 94: the mean of squared differences, one number."""

import torch

from gpu_eval.problems.definition import (
    Control,
    Dimension,
    DimensionKind,
    OwnDraw,
    Problem,
    Substrate,
    Tensors,
    TensorSpec,
)
from gpu_eval.problems.orders import Order, ordered_controls, terms_of_rows
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, int32, int64, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
THREADS = "128"
SHAPE = ("rows", "cols")
# At least 1,024 elements a block where there are that many, at least two blocks always; parts
# begin at multiples of four, which four-element loads need.
BLOCKS = "max(2, min(1024, ceil_div(elements, 1024)))"
LENGTH = f"4 * ceil_div(elements, 4 * {BLOCKS})"


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"loss": torch.mean((tensors["predictions"] - tensors["targets"]) ** 2)}


def in_order(tensors: Tensors, order: Order) -> Tensors:
    """Sum the squares in a given order."""
    squares = (tensors["predictions"] - tensors["targets"]).square().reshape(1, -1)
    return {"loss": order(terms_of_rows(squares), squares.numel())[0] / squares.numel()}


def by_rows(tensors: Tensors) -> Tensors:
    """Take the mean of the rows' means."""
    return {"loss": (tensors["predictions"] - tensors["targets"]).square().mean(dim=1).mean()}


def by_dot(tensors: Tensors) -> Tensors:
    """Multiply the differences, as one vector, by themselves."""
    difference = (tensors["predictions"] - tensors["targets"]).flatten()
    return {"loss": torch.dot(difference, difference) * (1 / difference.numel())}


def by_norm(tensors: Tensors) -> Tensors:
    """Square the root of the mean square."""
    difference = tensors["predictions"] - tensors["targets"]
    norm = torch.linalg.vector_norm(difference) / difference.numel() ** 0.5
    return {"loss": norm * norm}


TWO_STAGE = Substrate(
    name="two-stage",
    source="two_stage.cu",
    headers=("warp_reduce.cuh", "block_reduce.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("partial", BLOCKS),),
        steps=(
            Launch(
                kernel="mse_partial",
                grid=(BLOCKS, ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(
                    pointer("predictions"),
                    pointer("targets"),
                    pointer("partial"),
                    int64("elements"),
                    int64(LENGTH),
                ),
            ),
            Launch(
                kernel="mse_mean",
                grid=(ONE, ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(
                    pointer("partial"),
                    pointer("loss"),
                    int32(BLOCKS),
                    int64("elements"),
                ),
            ),
        ),
    ),
)

LAST_BLOCK = Substrate(
    name="last-block",
    source="last_block.cu",
    headers=("tree_reduce.cuh",),
    plan=LaunchPlan(
        workspaces=(Workspace("partial", BLOCKS), Workspace("finished", ONE, zeroed=True)),
        steps=(
            Launch(
                kernel="mse_last_block",
                grid=(BLOCKS, ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(
                    pointer("predictions"),
                    pointer("targets"),
                    pointer("partial"),
                    pointer("finished"),
                    pointer("loss"),
                    int64("elements"),
                ),
            ),
        ),
    ),
)

PROBLEM = Problem(
    id="level1/094",
    benchmark="kernelbench",
    level=1,
    name="94_MSELoss",
    operation_class=OperationClass.LOSS,
    # Two blocks, each in steps of 128 threads x 4 elements: 32 x 32 keeps multiples of 1,024.
    dimensions=(
        Dimension("rows", 32768, DimensionKind.REDUCED, tile=32),
        Dimension("cols", 32768, DimensionKind.REDUCED, tile=32),
    ),
    derived={"elements": "rows * cols"},
    inputs=(
        TensorSpec("predictions", SHAPE, own_draw=OwnDraw.UNIFORM_SCALED),
        TensorSpec("targets", SHAPE),
    ),
    outputs=(TensorSpec("loss", ()),),
    reference=reference,
    reduction_length="elements",
    substrates=(TWO_STAGE, LAST_BLOCK),
    controls=(
        *ordered_controls(in_order),
        Control("rows", "tile", run=by_rows),
        Control("dot", "algorithm", run=by_dot),
        Control("norm", "norm", run=by_norm),
        Control("fma-off", "fma_off", substrate=TWO_STAGE, flags=("-ffp-contract=off",)),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
