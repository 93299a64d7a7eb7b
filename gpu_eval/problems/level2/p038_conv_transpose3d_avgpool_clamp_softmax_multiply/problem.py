"""KernelBench level 2, problem 38: averages, a transposed convolution, clamped, softmax, scaled."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Clamp,
    ConvTranspose,
    Pool,
    Softmax,
    WithParameter,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

ONE = "1"
PLANES = "batch * out_channels"
POOLED = "pool_depth * pool_height * pool_width"
BLOCKS = f"ceil_div({POOLED}, 64)"

CLAMPED_EXPONENTIALS = Substrate(
    name="clamped-exponentials",
    source="clamped_exponentials.cu",
    headers=("block_reduce.cuh", "deconv_octet.cuh", "fused_activations.cuh", "warp_reduce.cuh"),
    plan=LaunchPlan(
        workspaces=(
            Workspace("pooled", f"batch * in_channels * {POOLED}"),
            Workspace("block_sums", f"{PLANES} * {BLOCKS}"),
            Workspace("totals", PLANES),
        ),
        steps=(
            Launch(
                kernel="average_pool3d",
                grid=(f"ceil_div({POOLED}, 128)", "batch * in_channels", ONE),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("pooled"),
                    int32("depth"),
                    int32("height"),
                    int32("width"),
                    int32("pool_depth"),
                    int32("pool_height"),
                    int32("pool_width"),
                ),
            ),
            Launch(
                kernel="deconv_clamp_exp",
                grid=(BLOCKS, "out_channels", "batch"),
                block=("64", ONE, ONE),
                arguments=(
                    pointer("pooled"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("y"),
                    pointer("block_sums"),
                    int32("in_channels"),
                    int32("pool_depth"),
                    int32("pool_height"),
                    int32("pool_width"),
                    int32("out_channels"),
                    float32("clamp_min"),
                    float32("clamp_max"),
                ),
                shared="in_channels * 27 * 4",
            ),
            Launch(
                kernel="merge_sums",
                grid=(f"ceil_div({PLANES}, 4)", ONE, ONE),
                block=("32", "4", ONE),
                arguments=(
                    pointer("block_sums"),
                    pointer("totals"),
                    int32(PLANES),
                    int32(BLOCKS),
                ),
            ),
            Launch(
                kernel="divide_scale",
                grid=(f"ceil_div({POOLED} * 2, 512)", PLANES, ONE),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("y"),
                    pointer("totals"),
                    pointer("scale"),
                    int32("out_channels"),
                    int32(f"{POOLED} * 2"),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    38,
    "38_ConvTranspose3d_AvgPool_Clamp_Softmax_Multiply",
    (
        Pool("mean", 3, 2),
        ConvTranspose(3, 3, stride=2, padding=1, output_padding=1),
        Clamp(0.0, 1.0),
        Softmax((2, 3, 4)),
        WithParameter("*", "scale", ("1", "out_channels", "1", "1", "1"), start=1.0),
    ),
    # 8 x 8 x 8 inputs are averaged to the 64 voxels of a block.
    dimensions=(
        parallel("batch", 32),
        reduced("in_channels", 32),
        reduced("depth", 32, tile=8, minimum=2),
        reduced("height", 64, tile=8, minimum=2),
        reduced("width", 64, tile=8, minimum=2),
        parallel("out_channels", 64),
    ),
    x=("batch", "in_channels", "depth", "height", "width"),
    scalars={"clamp_min": 0.0, "clamp_max": 1.0},
    substrates=(CLAMPED_EXPONENTIALS,),
)
