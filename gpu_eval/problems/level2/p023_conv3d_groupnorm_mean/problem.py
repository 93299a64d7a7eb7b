"""KernelBench level 2, problem 23: a convolution, GroupNorm, the mean of each image.

With the scale and shift that GroupNorm begins with, the mean is zero but for rounding.
"""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Conv,
    Normalise,
    Reduce,
    fixed,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

VOXELS = "out_depth * out_height * out_width"
RUNS = "batch * groups"

THREE_LAUNCHES = Substrate(
    name="three-launches",
    source="three_launches.cu",
    headers=("warp_reduce.cuh", "block_reduce.cuh"),
    plan=LaunchPlan(
        workspaces=(
            Workspace("hidden", f"batch * out_channels * {VOXELS}"),
            Workspace("means", RUNS),
            Workspace("inverses", RUNS),
        ),
        steps=(
            Launch(
                kernel="conv3d_group",
                grid=(f"ceil_div({VOXELS}, 128)", RUNS, "1"),
                block=("128", "1", "1"),
                shared="width_of_group * in_channels * 27 * 4",
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("hidden"),
                    int32("in_channels"),
                    int32("depth"),
                    int32("height"),
                    int32("width"),
                    int32("groups"),
                    int32("out_depth"),
                    int32("out_height"),
                    int32("out_width"),
                ),
            ),
            Launch(
                kernel="group_statistics",
                grid=(RUNS, "1", "1"),
                block=("128", "1", "1"),
                arguments=(
                    pointer("hidden"),
                    pointer("means"),
                    pointer("inverses"),
                    int32(f"width_of_group * {VOXELS}"),
                    float32("eps"),
                ),
            ),
            Launch(
                kernel="mean_of_standardised",
                grid=("batch", "1", "1"),
                block=("128", "1", "1"),
                arguments=(
                    pointer("hidden"),
                    pointer("means"),
                    pointer("inverses"),
                    pointer("norm_weight"),
                    pointer("norm_bias"),
                    pointer("y"),
                    int32("groups"),
                    int32(VOXELS),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    23,
    "23_Conv3d_GroupNorm_Mean",
    (Conv(3, 3), Normalise("group", width=3), Reduce("mean", (1, 2, 3, 4), keep=False)),
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 3),
        reduced("depth", 24, minimum=4),
        reduced("height", 32, minimum=4),
        reduced("width", 32, minimum=4),
        reduced("groups", 8),
        fixed("width_of_group", 3),
    ),
    derived={"out_channels": "groups * width_of_group"},
    x=("batch", "in_channels", "depth", "height", "width"),
    scalars={"eps": 1e-5},
    substrates=(THREE_LAUNCHES,),
)
