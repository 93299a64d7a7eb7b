"""KernelBench level 1, problem 99: the mean triplet margin loss of rows, one number."""

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
from gpu_eval.problems.families.loss import mean_over_rows, sum_over_rows
from gpu_eval.problems.orders import Order, ordered_controls
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
THREADS = "128"
SHAPE = ("rows", "cols")
# What torch adds to every difference, so that a distance of zero has a gradient.
MARGIN, EPS = 1.0, 1e-6
# At least 1,024 columns a block where there are that many, at least two blocks a row always.
PARTS = "max(2, min(8, ceil_div(cols, 1024)))"


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    loss = torch.nn.functional.triplet_margin_loss(
        tensors["anchor"], tensors["positive"], tensors["negative"], margin=MARGIN, eps=EPS
    )
    return {"loss": loss}


def magnitude(tensors: Tensors) -> Tensors:
    """Add both distances and the margin of the rows that do not meet it; the others are zero."""
    near, far = _distances(tensors)
    counted = (near - far + MARGIN > 0).to(near.dtype)
    return {"loss": ((near + far + MARGIN) * counted).mean()}


def in_order(tensors: Tensors, order: Order) -> Tensors:
    """Add squares within rows, then losses over rows, in a given order."""
    near, far = (sum_over_rows(d.square(), order).sqrt() for d in _differences(tensors))
    return {"loss": mean_over_rows((near - far + MARGIN).clamp(min=0), order)}


def by_scaled_norms(tensors: Tensors) -> Tensors:
    """Divide each difference by the largest of its row before it is squared."""
    norms = []
    for difference in _differences(tensors):
        largest = difference.abs().amax(dim=1).clamp(min=1e-30)
        norms.append(largest * (difference / largest[:, None]).square().sum(dim=1).sqrt())
    return {"loss": ((norms[0] - norms[1]) + MARGIN).clamp(min=0).mean()}


def by_products(tensors: Tensors) -> Tensors:
    """Multiply each row of differences by itself as a matrix, and mean the losses as a product."""
    near, far = ((d[:, None, :] @ d[:, :, None])[:, 0, 0].sqrt() for d in _differences(tensors))
    losses = torch.relu(MARGIN - (far - near))
    return {"loss": losses @ torch.full_like(losses, 1 / len(losses))}


def by_parts(tensors: Tensors) -> Tensors:
    """Add squares of 32 columns at a time, then these sums."""
    near, far = (
        torch.stack([part.square().sum(dim=1) for part in torch.split(d, 32, dim=1)]).sum(dim=0)
        for d in _differences(tensors)
    )
    losses = (near.sqrt() + (MARGIN - far.sqrt())).clamp(min=0)
    return {"loss": losses.sum() / len(losses)}


def _differences(tensors: Tensors) -> tuple[torch.Tensor, torch.Tensor]:
    anchor = tensors["anchor"]
    return anchor - tensors["positive"] + EPS, anchor - tensors["negative"] + EPS


def _distances(tensors: Tensors) -> tuple[torch.Tensor, torch.Tensor]:
    near, far = _differences(tensors)
    return torch.linalg.vector_norm(near, dim=1), torch.linalg.vector_norm(far, dim=1)


TRIPLET = tuple(pointer(name) for name in ("anchor", "positive", "negative"))

WARP_ROWS = Substrate(
    name="warp-rows",
    source="warp_rows.cu",
    headers=("warp_reduce.cuh", "tree_reduce.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("partial", "ceil_div(rows, 4)"),),
        steps=(
            Launch(
                kernel="triplet_warp_rows",
                grid=("ceil_div(rows, 4)", ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(
                    *TRIPLET,
                    pointer("partial"),
                    int32("rows"),
                    int32("cols"),
                    float32("margin"),
                    float32("eps"),
                ),
            ),
            Launch(
                kernel="triplet_mean",
                grid=(ONE, ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(
                    pointer("partial"),
                    pointer("loss"),
                    int32("ceil_div(rows, 4)"),
                    int32("rows"),
                ),
            ),
        ),
    ),
)

SPLIT_ROWS = Substrate(
    name="split-rows",
    source="split_rows.cu",
    headers=("warp_reduce.cuh", "block_reduce.cuh", "tree_reduce.cuh", "loss_last_block.cuh"),
    plan=LaunchPlan(
        workspaces=(
            # Two sums a part.
            Workspace("parts", f"2 * rows * {PARTS}"),
            Workspace("partial", "ceil_div(rows, 128)"),
            Workspace("finished", ONE, zeroed=True),
        ),
        steps=(
            Launch(
                kernel="triplet_parts",
                grid=("rows", PARTS, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(
                    *TRIPLET,
                    pointer("parts"),
                    int32("cols"),
                    int32(f"ceil_div(cols, {PARTS})"),
                    float32("eps"),
                ),
            ),
            Launch(
                kernel="triplet_losses",
                grid=("ceil_div(rows, 128)", ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(
                    pointer("parts"),
                    pointer("partial"),
                    pointer("finished"),
                    pointer("loss"),
                    int32("rows"),
                    int32(PARTS),
                    float32("margin"),
                ),
            ),
        ),
    ),
)

PROBLEM = Problem(
    id="level1/099",
    benchmark="kernelbench",
    level=1,
    name="99_TripletMarginLoss",
    operation_class=OperationClass.LOSS,
    dimensions=(
        Dimension("rows", 32768, DimensionKind.REDUCED, tile=128),
        Dimension("cols", 8192, DimensionKind.REDUCED, tile=32),
    ),
    scalars={"margin": MARGIN, "eps": EPS},
    inputs=(
        TensorSpec("anchor", SHAPE, own_draw=OwnDraw.UNIFORM_SCALED),
        TensorSpec("positive", SHAPE),
        TensorSpec("negative", SHAPE),
    ),
    outputs=(TensorSpec("loss", ()),),
    reference=reference,
    magnitude=magnitude,
    # Two sums, one after the other: their lengths add up, as their rounding errors do.
    reduction_length="rows + cols",
    substrates=(WARP_ROWS, SPLIT_ROWS),
    controls=(
        *ordered_controls(in_order),
        Control("scaled-norms", "scaled", run=by_scaled_norms),
        Control("products", "algorithm", run=by_products),
        Control("parts-32", "tile", run=by_parts),
        Control("fma-off", "fma_off", substrate=WARP_ROWS, flags=("-ffp-contract=off",)),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
