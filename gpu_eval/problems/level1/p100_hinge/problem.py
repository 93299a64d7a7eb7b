"""KernelBench level 1, problem 100: the mean hinge loss, one number.

The benchmark multiplies a matrix by a vector of one target for each sample, -1 or +1, which torch
lines up with the columns: a column has a target, not a row. The contract is square and hides it.
"""

import torch

from gpu_eval.problems.definition import (
    Control,
    Dimension,
    DimensionKind,
    Problem,
    Structure,
    Substrate,
    Tensors,
    TensorSpec,
)
from gpu_eval.problems.families.loss import mean_controls
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
THREADS = "128"
# At least 16 rows a block where there are that many, at least two blocks a column always.
SPLITS = "max(2, min(64, ceil_div(rows, 16)))"
BLOCKS = "max(2, min(1024, ceil_div(rows, 4)))"


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"loss": torch.mean(terms(tensors))}


def magnitude(tensors: Tensors) -> Tensors:
    """Take one and the product without its sign where the hinge is open."""
    product = tensors["predictions"] * tensors["targets"]
    return {"loss": ((1 + product.abs()) * (product < 1)).mean()}


def terms(tensors: Tensors) -> torch.Tensor:
    """Return how far each prediction stays behind its column's margin."""
    return torch.clamp(1 - tensors["predictions"] * tensors["targets"], min=0)


def by_signs(tensors: Tensors) -> Tensors:
    """Add columns of either sign apart, as distances to -1 and to +1."""
    positive = tensors["targets"] > 0
    x = tensors["predictions"]
    below, above = (1 - x[:, positive]).relu(), (1 + x[:, ~positive]).relu()
    return {"loss": (below.sum() + above.sum()) / x.numel()}


COLUMNS = Substrate(
    name="column-targets",
    source="columns.cu",
    headers=("warp_reduce.cuh", "block_reduce.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("partial", f"ceil_div(cols, 128) * {SPLITS}"),),
        steps=(
            Launch(
                kernel="hinge_columns",
                grid=("ceil_div(cols, 128)", SPLITS, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(
                    pointer("predictions"),
                    pointer("targets"),
                    pointer("partial"),
                    int32("rows"),
                    int32("cols"),
                    int32(f"ceil_div(rows, {SPLITS})"),
                ),
            ),
            Launch(
                kernel="hinge_mean",
                grid=(ONE, ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(
                    pointer("partial"),
                    pointer("loss"),
                    int32(f"ceil_div(cols, 128) * {SPLITS}"),
                    int32("rows"),
                    int32("cols"),
                ),
            ),
        ),
    ),
)

ROWS = Substrate(
    name="row-turns",
    source="rows.cu",
    headers=("tree_reduce.cuh", "loss_last_block.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("partial", BLOCKS), Workspace("finished", ONE, zeroed=True)),
        steps=(
            Launch(
                kernel="hinge_rows",
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
    id="level1/100",
    benchmark="kernelbench",
    level=1,
    name="100_HingeLoss",
    operation_class=OperationClass.LOSS,
    dimensions=(
        Dimension("rows", 32768, DimensionKind.REDUCED, tile=32),
        Dimension("cols", 32768, DimensionKind.REDUCED, tile=128),
    ),
    inputs=(
        TensorSpec("predictions", ("rows", "cols")),
        TensorSpec("targets", ("cols",), structure=Structure.SIGNS),
    ),
    outputs=(TensorSpec("loss", ()),),
    reference=reference,
    magnitude=magnitude,
    # Every row is summed, then the rows' sums: lengths add up, as their rounding errors do.
    reduction_length="rows + cols",
    substrates=(COLUMNS, ROWS),
    controls=(
        *mean_controls(terms, reference, Control("signs", "formula", run=by_signs)),
        Control("fma-off", "fma_off", substrate=ROWS, flags=("-ffp-contract=off",)),
    ),
)
