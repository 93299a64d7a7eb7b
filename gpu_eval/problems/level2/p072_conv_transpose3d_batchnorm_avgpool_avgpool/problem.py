"""KernelBench level 2, problem 72: a transposed convolution, BatchNorm, average-pooled twice."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    ConvTranspose,
    Normalise,
    Pool,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

ONE = "1"
WEIGHTS = "in_channels * 27 * 4"
PLANES = "batch * out_channels"
VOXELS = "out_depth * out_height * out_width"
WINDOWS = "last_depth * last_height * last_width"

MADE_TWICE = Substrate(
    name="made-twice",
    source="made_twice.cu",
    headers=("deconv_octet.cuh", "norm_block_moments.cuh", "welford.cuh"),
    plan=LaunchPlan(
        workspaces=(
            Workspace("means", "out_channels * batch"),
            Workspace("squares", "out_channels * batch"),
        ),
        steps=(
            Launch(
                kernel="deconv_moments",
                grid=("out_channels", "batch", ONE),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("means"),
                    pointer("squares"),
                    int32("in_channels"),
                    int32("depth"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                ),
                shared=WEIGHTS,
            ),
            Launch(
                kernel="deconv_normalise_average",
                grid=(
                    f"ceil_div({WINDOWS}, 64)",
                    "out_channels",
                    "batch",
                ),
                block=("64", ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("means"),
                    pointer("squares"),
                    pointer("norm_weight"),
                    pointer("norm_bias"),
                    pointer("y"),
                    int32("batch"),
                    int32("in_channels"),
                    int32("depth"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                    int32("last_depth"),
                    int32("last_height"),
                    int32("last_width"),
                    int32(VOXELS),
                    float32("eps"),
                ),
                shared=WEIGHTS,
            ),
        ),
    ),
)

POOLED_FIRST = Substrate(
    name="pooled-first",
    source="pooled_first.cu",
    headers=("deconv_octet.cuh", "norm_block_moments.cuh", "welford.cuh"),
    plan=LaunchPlan(
        workspaces=(
            Workspace("hidden", f"{PLANES} * {VOXELS}"),
            Workspace("means", "out_channels"),
            Workspace("inverses", "out_channels"),
        ),
        steps=(
            Launch(
                kernel="deconv_all_channels",
                grid=("ceil_div(depth * height * width, 64)", "batch", ONE),
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
                shared="in_channels * 8 * 64 * 4",
            ),
            Launch(
                kernel="channel_moments",
                grid=("out_channels", ONE, ONE),
                block=("256", ONE, ONE),
                arguments=(
                    pointer("hidden"),
                    pointer("means"),
                    pointer("inverses"),
                    int32("batch"),
                    int32("out_channels"),
                    int32(VOXELS),
                    float32("eps"),
                ),
            ),
            Launch(
                kernel="average_normalise",
                grid=(f"ceil_div({WINDOWS}, 128)", PLANES, ONE),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("hidden"),
                    pointer("means"),
                    pointer("inverses"),
                    pointer("norm_weight"),
                    pointer("norm_bias"),
                    pointer("y"),
                    int32("out_channels"),
                    int32("out_depth"),
                    int32("out_height"),
                    int32("out_width"),
                    int32("last_depth"),
                    int32("last_height"),
                    int32("last_width"),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    72,
    "72_ConvTranspose3d_BatchNorm_AvgPool_AvgPool",
    (
        ConvTranspose(3, 3, stride=2, padding=1),
        Normalise("batch"),
        Pool("mean", 3, 2),
        Pool("mean", 3, 2, prefix="last"),
    ),
    # 2 n - 1 outputs an axis, n - 1 after the first pooling: both poolings drop the last slice.
    dimensions=(
        reduced("batch", 64, minimum=2),
        reduced("in_channels", 3),
        reduced("depth", 32, tile=2, minimum=3),
        reduced("height", 32, tile=2, minimum=3),
        reduced("width", 32, tile=2, minimum=3),
        parallel("out_channels", 16),
    ),
    x=("batch", "in_channels", "depth", "height", "width"),
    scalars={"eps": 1e-5},
    substrates=(MADE_TWICE, POOLED_FIRST),
)
