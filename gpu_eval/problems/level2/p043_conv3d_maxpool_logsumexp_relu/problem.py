"""KernelBench level 2, problem 43: a padded convolution, max-pooling, log-sum-exp, ReLU."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Conv,
    Pool,
    Reduce,
    fused_problem,
    parallel,
    reduced,
    relu,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, int32, pointer

VOXELS = "pool_depth * pool_height * pool_width"
FACTORS = (pointer("x"), pointer("weight"), pointer("bias"))
EXTENTS = (
    int32("in_channels"),
    int32("depth"),
    int32("height"),
    int32("width"),
    int32("out_channels"),
    int32("pool_depth"),
    int32("pool_height"),
    int32("pool_width"),
)

POOLED_SLABS = Substrate(
    name="pooled-slabs",
    source="pooled_slabs.cu",
    headers=(
        "conv3d_octet.cuh",
        "conv3d_slab.cuh",
        "fused_activations.cuh",
        "limits.cuh",
        "pool_nan.cuh",
    ),
    plan=LaunchPlan(
        workspaces=(Workspace("pooled", f"batch * out_channels * {VOXELS}"),),
        steps=(
            Launch(
                kernel="conv3d_max",
                grid=(
                    "ceil_div(pool_width, 4)",
                    "ceil_div(pool_height, 4)",
                    "batch * ceil_div(out_channels, 4) * ceil_div(pool_depth, 2)",
                ),
                block=("4", "4", "4"),
                arguments=(*FACTORS, pointer("pooled"), *EXTENTS),
            ),
            Launch(
                kernel="logsumexp_relu",
                grid=(f"ceil_div(batch * {VOXELS}, 64)", "1", "1"),
                block=("64", "1", "1"),
                arguments=(
                    pointer("pooled"),
                    pointer("y"),
                    int32("batch"),
                    int32("out_channels"),
                    int32(VOXELS),
                ),
            ),
        ),
    ),
)

RUNNING_SUMS = Substrate(
    name="running-sums",
    source="running_sums.cu",
    headers=("conv3d_octet.cuh", "fused_activations.cuh", "limits.cuh", "pool_nan.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv3d_max_logsumexp",
                grid=(f"ceil_div({VOXELS}, 16)", "batch", "1"),
                block=("16", "4", "1"),
                arguments=(*FACTORS, pointer("y"), *EXTENTS),
            ),
        )
    ),
)

PROBLEM = fused_problem(
    43,
    "43_Conv3d_Max_LogSumExp_ReLU",
    (Conv(3, 3, stride=1, padding=1), Pool("max", 3, 2), Reduce("logsumexp"), relu()),
    dimensions=(
        parallel("batch", 4),
        reduced("in_channels", 32),
        parallel("depth", 32, tile=4, minimum=2),
        parallel("height", 128, tile=8, minimum=2),
        parallel("width", 128, tile=8, minimum=2),
        reduced("out_channels", 64, tile=4),
    ),
    x=("batch", "in_channels", "depth", "height", "width"),
    substrates=(POOLED_SLABS, RUNNING_SUMS),
)
