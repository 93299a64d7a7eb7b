"""KernelBench level 1, problem 98: Kullback-Leibler divergence of rows, averaged over rows."""

import torch

from gpu_eval.problems.definition import (
    Control,
    Dimension,
    DimensionKind,
    OwnDraw,
    Problem,
    Structure,
    Substrate,
    Tensors,
    TensorSpec,
)
from gpu_eval.problems.families.loss import mean_over_rows, sum_over_rows
from gpu_eval.problems.orders import Order, ordered_controls
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
THREADS = "128"
SHAPE = ("rows", "cols")
BLOCKS = "ceil_div(rows, 4)"


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    logarithms = torch.log(tensors["predictions"])
    loss = torch.nn.functional.kl_div(logarithms, tensors["targets"], reduction="batchmean")
    return {"loss": loss}


def magnitude(tensors: Tensors) -> Tensors:
    """Add up both logarithms without their signs: the divergence is their small difference."""
    p, t = tensors["predictions"], tensors["targets"]
    return {"loss": (torch.xlogy(t, t).abs() + t * p.log().abs()).sum() / t.shape[0]}


def in_order(tensors: Tensors, order: Order) -> Tensors:
    """Add within rows, then over rows, in a given order."""
    p, t = tensors["predictions"], tensors["targets"]
    losses = sum_over_rows(torch.xlogy(t, t) - t * p.log(), order)
    return {"loss": mean_over_rows(losses, order)}


def by_quotients(tensors: Tensors) -> Tensors:
    """Take the logarithm of the quotient."""
    p, t = tensors["predictions"], tensors["targets"]
    return {"loss": torch.xlogy(t, t / p).sum(dim=1).mean()}


def by_log2(tensors: Tensors) -> Tensors:
    """Use logarithms of two."""
    p, t = tensors["predictions"], tensors["targets"]
    terms = torch.where(t > 0, t * (t.log2() - p.log2()), 0.0)
    return {"loss": terms.sum() * 0.6931471805599453 / t.shape[0]}


def by_columns(tensors: Tensors) -> Tensors:
    """Add over rows first."""
    p, t = tensors["predictions"], tensors["targets"]
    return {"loss": (t * (t.log() - p.log())).nan_to_num(0.0).mean(dim=0).sum()}


ROW_BLOCKS = Substrate(
    name="row-blocks",
    source="row_blocks.cu",
    headers=("tree_reduce.cuh",),
    plan=LaunchPlan(
        workspaces=(Workspace("row_sums", "rows"),),
        steps=(
            Launch(
                kernel="kl_div_rows",
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
                kernel="kl_div_mean",
                grid=(ONE, ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(pointer("row_sums"), pointer("loss"), int32("rows")),
            ),
        ),
    ),
)

WARP_ROWS = Substrate(
    name="warp-rows",
    source="warp_rows.cu",
    headers=("warp_reduce.cuh", "tree_reduce.cuh", "loss_last_block.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("partial", BLOCKS), Workspace("finished", ONE, zeroed=True)),
        steps=(
            Launch(
                kernel="kl_div_warp_rows",
                grid=(BLOCKS, ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(
                    pointer("predictions"),
                    pointer("targets"),
                    pointer("partial"),
                    pointer("finished"),
                    pointer("loss"),
                    int32("rows"),
                    int32("cols"),
                ),
            ),
        ),
    ),
)

PROBLEM = Problem(
    id="level1/098",
    benchmark="kernelbench",
    level=1,
    name="98_KLDivLoss",
    operation_class=OperationClass.LOSS,
    dimensions=(
        Dimension("rows", 16384, DimensionKind.REDUCED, tile=4),
        Dimension("cols", 16384, DimensionKind.REDUCED, tile=128, minimum=2),
    ),
    inputs=(
        TensorSpec(
            "predictions",
            SHAPE,
            structure=Structure.PROBABILITY_ROWS,
            own_draw=OwnDraw.UNIFORM_SCALED,
        ),
        TensorSpec("targets", SHAPE, structure=Structure.PROBABILITY_ROWS),
    ),
    outputs=(TensorSpec("loss", ()),),
    reference=reference,
    magnitude=magnitude,
    # Every row is summed, then the rows' sums: lengths add up, as their rounding errors do.
    reduction_length="rows + cols",
    substrates=(ROW_BLOCKS, WARP_ROWS),
    controls=(
        *ordered_controls(in_order),
        Control("quotients", "algorithm", run=by_quotients),
        Control("log2", "log2", run=by_log2),
        Control("columns", "order", run=by_columns),
        Control("fma-off", "fma_off", substrate=ROW_BLOCKS, flags=("-ffp-contract=off",)),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
