"""KernelBench level 2, problem 15: a transposed convolution, BatchNorm, less each plane's mean."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    ConvTranspose,
    Normalise,
    SubtractMean,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

ONE = "1"
PLANES = "batch * out_channels"
VOXELS = "out_depth * out_height * out_width"

PLANE_MOMENTS = Substrate(
    name="plane-moments",
    source="plane_moments.cu",
    headers=("deconv_octet.cuh", "norm_block_moments.cuh", "welford.cuh"),
    plan=LaunchPlan(
        workspaces=(
            Workspace("hidden", f"{PLANES} * {VOXELS}"),
            Workspace("means", PLANES),
            Workspace("squares", PLANES),
            Workspace("channel_means", "out_channels"),
            Workspace("inverses", "out_channels"),
        ),
        steps=(
            Launch(
                kernel="deconv_octets",
                grid=("ceil_div(depth * height * width, 64)", "out_channels", "batch"),
                block=("64", ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("hidden"),
                    int32("in_channels"),
                    int32("depth"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                ),
            ),
            Launch(
                kernel="plane_moments",
                grid=(PLANES, ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("hidden"),
                    pointer("means"),
                    pointer("squares"),
                    int32(VOXELS),
                ),
            ),
            Launch(
                kernel="channel_moments",
                grid=("ceil_div(out_channels, 64)", ONE, ONE),
                block=("64", ONE, ONE),
                arguments=(
                    pointer("means"),
                    pointer("squares"),
                    pointer("channel_means"),
                    pointer("inverses"),
                    int32("batch"),
                    int32("out_channels"),
                    int32(VOXELS),
                    float32("eps"),
                ),
            ),
            Launch(
                kernel="normalise_centre",
                grid=(f"ceil_div({VOXELS}, 512)", PLANES, ONE),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("hidden"),
                    pointer("means"),
                    pointer("channel_means"),
                    pointer("inverses"),
                    pointer("norm_weight"),
                    pointer("norm_bias"),
                    pointer("y"),
                    int32("out_channels"),
                    int32(VOXELS),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    15,
    "15_ConvTranspose3d_BatchNorm_Subtract",
    (ConvTranspose(3, 3, stride=2, padding=1), Normalise("batch"), SubtractMean((2, 3, 4))),
    dimensions=(
        reduced("batch", 16, minimum=2),
        reduced("in_channels", 16),
        reduced("depth", 16, tile=2, minimum=5),
        reduced("height", 32, tile=4, minimum=5),
        reduced("width", 32, tile=4, minimum=5),
        parallel("out_channels", 32),
    ),
    x=("batch", "in_channels", "depth", "height", "width"),
    scalars={"eps": 1e-5},
    substrates=(PLANE_MOMENTS,),
)
