"""KernelBench level 2, problem 60: a transposed convolution, swish, GroupNorm, hardswish."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    ConvTranspose,
    Normalise,
    fixed,
    fused_problem,
    hardswish,
    parallel,
    reduced,
    swish,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

ONE = "1"
VOXELS = "out_depth * out_height * out_width"
BLOCKS = f"ceil_div({VOXELS}, 128)"
PARTIAL = f"batch * groups * {BLOCKS}"

PARTIAL_MOMENTS = Substrate(
    name="partial-moments",
    source="partial_moments.cu",
    headers=(
        "deconv_source.cuh",
        "fused_activations.cuh",
        "norm_block_moments.cuh",
        "welford.cuh",
    ),
    plan=LaunchPlan(
        workspaces=(
            Workspace("hidden", f"batch * out_channels * {VOXELS}"),
            Workspace("counts", PARTIAL),
            Workspace("block_means", PARTIAL),
            Workspace("block_squares", PARTIAL),
            Workspace("means", "batch * groups"),
            Workspace("inverses", "batch * groups"),
        ),
        steps=(
            Launch(
                kernel="deconv_swish_moments",
                grid=(BLOCKS, "groups", "batch"),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("hidden"),
                    pointer("counts"),
                    pointer("block_means"),
                    pointer("block_squares"),
                    int32("in_channels"),
                    int32("depth"),
                    int32("height"),
                    int32("width"),
                    int32("groups"),
                    int32("group_width"),
                    int32("out_depth"),
                    int32("out_height"),
                    int32("out_width"),
                ),
            ),
            Launch(
                kernel="merge_moments",
                grid=("batch * groups", ONE, ONE),
                block=("32", ONE, ONE),
                arguments=(
                    pointer("counts"),
                    pointer("block_means"),
                    pointer("block_squares"),
                    pointer("means"),
                    pointer("inverses"),
                    int32(BLOCKS),
                    float32("eps"),
                ),
            ),
            Launch(
                kernel="group_apply_hardswish",
                grid=(f"ceil_div({VOXELS}, 64)", "out_channels", "batch"),
                block=("64", ONE, ONE),
                arguments=(
                    pointer("hidden"),
                    pointer("means"),
                    pointer("inverses"),
                    pointer("norm_weight"),
                    pointer("norm_bias"),
                    pointer("y"),
                    int32("groups"),
                    int32("group_width"),
                    int32(VOXELS),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    60,
    "60_ConvTranspose3d_Swish_GroupNorm_HardSwish",
    (
        ConvTranspose(3, 3, stride=2, padding=1),
        swish(),
        Normalise("group", groups=4, eps=1e-5),
        hardswish(),
    ),
    # 2 n - 1 outputs an axis: an odd number of voxels, a tail in any block.
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 3),
        reduced("depth", 16, tile=2, minimum=2),
        reduced("height", 32, tile=4, minimum=2),
        reduced("width", 32, tile=4, minimum=2),
        fixed("groups", 4),
        reduced("group_width", 4),
    ),
    x=("batch", "in_channels", "depth", "height", "width"),
    derived={"out_channels": "groups * group_width"},
    scalars={"eps": 1e-5},
    substrates=(PARTIAL_MOMENTS,),
)
