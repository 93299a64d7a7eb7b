"""KernelBench level 2, problem 44: a transposed convolution, halved, averaged over the image."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    ConvTranspose,
    Scale,
    fused_problem,
    global_average,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

ONE = "1"
SLICES = "4"
PLANES = "batch * out_channels"

SLICED_PLANES = Substrate(
    name="sliced-planes",
    source="sliced_planes.cu",
    headers=("block_reduce.cuh", "deconv_quad.cuh", "warp_reduce.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("partial", f"{PLANES} * {SLICES}"),),
        steps=(
            Launch(
                kernel="deconv_multiply_sum",
                grid=(SLICES, "out_channels", "batch"),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("partial"),
                    int32("in_channels"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                    float32("multiplier"),
                ),
            ),
            Launch(
                kernel="average_slices",
                grid=(f"ceil_div({PLANES}, 64)", ONE, ONE),
                block=("64", ONE, ONE),
                arguments=(
                    pointer("partial"),
                    pointer("y"),
                    int32(PLANES),
                    int32(SLICES),
                    int32("out_height * out_width"),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    44,
    "44_ConvTranspose2d_Multiply_GlobalAvgPool_GlobalAvgPool_Mean",
    (
        ConvTranspose(2, 3, stride=2, padding=1, output_padding=1),
        Scale(0.5),
        global_average(2),
        global_average(2),
    ),
    dimensions=(
        parallel("batch", 16),
        reduced("in_channels", 64),
        reduced("height", 128, tile=4, minimum=2),
        reduced("width", 128, tile=4, minimum=2),
        parallel("out_channels", 128),
    ),
    x=("batch", "in_channels", "height", "width"),
    scalars={"multiplier": 0.5},
    substrates=(SLICED_PLANES,),
)
