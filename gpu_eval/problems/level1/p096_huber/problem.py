"""KernelBench level 1, problem 96: the mean smooth L1 loss, one number."""

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
from gpu_eval.problems.families.loss import mean_controls
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, int32, int64, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
THREADS = "128"
SHAPE = ("rows", "cols")
# At least 1,024 elements a block where there are that many, at least two blocks always.
BLOCKS = "max(2, min(1024, ceil_div(elements, 1024)))"


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    loss = torch.nn.functional.smooth_l1_loss(tensors["predictions"], tensors["targets"])
    return {"loss": loss}


def terms(tensors: Tensors) -> torch.Tensor:
    """Return half the square of small differences, large ones less one half."""
    distance = (tensors["predictions"] - tensors["targets"]).abs()
    return torch.where(distance < 1, 0.5 * distance.square(), distance - 0.5)


def by_clamping(tensors: Tensors) -> Tensors:
    """Multiply what is at most one of a difference by the rest of it, less half of the first."""
    distance = (tensors["predictions"] - tensors["targets"]).abs()
    small = distance.clamp(max=1)
    return {"loss": (small * (distance - 0.5 * small)).mean()}


ROW_BLOCKS = Substrate(
    name="row-blocks",
    source="row_blocks.cu",
    headers=("warp_reduce.cuh", "block_reduce.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("row_sums", "rows"),),
        steps=(
            Launch(
                kernel="huber_rows",
                grid=("rows", ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(
                    pointer("predictions"),
                    pointer("targets"),
                    pointer("row_sums"),
                    int32("cols"),
                ),
            ),
            Launch(
                kernel="huber_mean",
                grid=(ONE, ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(pointer("row_sums"), pointer("loss"), int32("rows"), int32("cols")),
            ),
        ),
    ),
)

DOUBLE_SUMS = Substrate(
    name="double-sums",
    source="double_sums.cu",
    plan=LaunchPlan(
        # Eight bytes a block.
        workspaces=(Workspace("partial", f"2 * {BLOCKS}"),),
        steps=(
            Launch(
                kernel="huber_partial",
                grid=(BLOCKS, ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(
                    pointer("predictions"),
                    pointer("targets"),
                    pointer("partial"),
                    int64("elements"),
                ),
            ),
            Launch(
                kernel="huber_finish",
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

PROBLEM = Problem(
    id="level1/096",
    benchmark="kernelbench",
    level=1,
    name="96_HuberLoss",
    operation_class=OperationClass.LOSS,
    dimensions=(
        Dimension("rows", 32768, DimensionKind.REDUCED, tile=32),
        Dimension("cols", 32768, DimensionKind.REDUCED, tile=128),
    ),
    derived={"elements": "rows * cols"},
    inputs=(
        TensorSpec("predictions", SHAPE, own_draw=OwnDraw.UNIFORM_SCALED),
        TensorSpec("targets", SHAPE),
    ),
    outputs=(TensorSpec("loss", ()),),
    reference=reference,
    # All terms are positive: the loss is its own magnitude.
    # Every row is summed, then the rows' sums: lengths add up, as their rounding errors do.
    reduction_length="rows + cols",
    substrates=(ROW_BLOCKS, DOUBLE_SUMS),
    controls=(
        *mean_controls(terms, reference, Control("clamping", "formula", run=by_clamping)),
        Control("fma-off", "fma_off", substrate=ROW_BLOCKS, flags=("-ffp-contract=off",)),
    ),
)
