"""KernelBench level 2, problem 27: a convolution, hard swish, GroupNorm, the mean of channels."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Conv,
    Normalise,
    Reduce,
    fixed,
    fused_problem,
    hardswish,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

VOXELS = "out_depth * out_height * out_width"
LINES = "out_depth * out_height"
PLANES = "batch * out_channels"
RUNS = "batch * groups"
# Blocks for the voxels of a group.
PARTS = f"min(ceil_div({VOXELS}, 64), 4)"
FACTORS = (pointer("x"), pointer("weight"), pointer("bias"))
INPUT = (int32("in_channels"), int32("depth"), int32("height"), int32("width"))
OUTPUT = (int32("out_depth"), int32("out_height"), int32("out_width"))
MOMENTS = tuple(pointer(name) for name in ("counts", "means", "squares"))
AFFINE = (pointer("norm_weight"), pointer("norm_bias"))

MOMENTS_ALONE = Substrate(
    name="moments",
    source="moments.cu",
    headers=("fused_activations.cuh", "welford.cuh", "norm_block_moments.cuh"),
    plan=LaunchPlan(
        workspaces=tuple(Workspace(part.value, f"{PLANES} * {PARTS}") for part in MOMENTS),
        steps=(
            Launch(
                kernel="conv3d_moments",
                grid=(PARTS, "groups", "batch"),
                block=("64", "1", "1"),
                # 64 taps of four channels.
                shared="in_channels * 64 * 4 * 4",
                arguments=(*FACTORS, *MOMENTS, *INPUT, *OUTPUT),
            ),
            Launch(
                kernel="standardise_means",
                grid=(f"ceil_div({PLANES}, 64)", "1", "1"),
                block=("64", "1", "1"),
                arguments=(
                    *MOMENTS,
                    *AFFINE,
                    pointer("y"),
                    int32(PLANES),
                    int32("out_channels"),
                    int32(PARTS),
                    float32("eps"),
                ),
            ),
        ),
    ),
)

THREE_LAUNCHES = Substrate(
    name="three-launches",
    source="three_launches.cu",
    headers=("fused_activations.cuh", "tree_reduce.cuh"),
    plan=LaunchPlan(
        workspaces=(
            Workspace("hidden", f"{PLANES} * {VOXELS}"),
            Workspace("means", RUNS),
            Workspace("inverses", RUNS),
        ),
        steps=(
            Launch(
                kernel="conv3d_hardswish",
                grid=(
                    f"ceil_div({LINES} * ceil_div(out_width, 4), 128)",
                    "out_channels",
                    "batch",
                ),
                block=("128", "1", "1"),
                arguments=(
                    *FACTORS,
                    pointer("hidden"),
                    *INPUT,
                    int32("out_channels"),
                    *OUTPUT,
                ),
            ),
            Launch(
                kernel="group_moments",
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
                kernel="standardise_average",
                grid=(PLANES, "1", "1"),
                block=("128", "1", "1"),
                arguments=(
                    pointer("hidden"),
                    pointer("means"),
                    pointer("inverses"),
                    *AFFINE,
                    pointer("y"),
                    int32("out_channels"),
                    int32(VOXELS),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    27,
    "27_Conv3d_HardSwish_GroupNorm_Mean",
    (
        Conv(3, 4),
        hardswish(),
        Normalise("group", width=4),
        Reduce("mean", (2, 3, 4), keep=False),
    ),
    dimensions=(
        parallel("batch", 1024),
        reduced("in_channels", 3),
        reduced("depth", 16, minimum=5),
        reduced("height", 32, minimum=5),
        reduced("width", 32, tile=4, minimum=5),
        parallel("groups", 4),
        fixed("width_of_group", 4),
    ),
    derived={"out_channels": "groups * width_of_group"},
    x=("batch", "in_channels", "depth", "height", "width"),
    scalars={"eps": 1e-5},
    substrates=(MOMENTS_ALONE, THREE_LAUNCHES),
)
