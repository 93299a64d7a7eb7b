"""KernelBench level 1, problem 55: a 3 x 3 convolution of an image twice as wide as high."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.convolution import Convolution
from gpu_eval.problems.families.convolution_problem import (
    convolution_problem,
    fixed,
    parallel,
    summed,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer

ARGUMENTS = (
    pointer("x"),
    pointer("weight"),
    pointer("y"),
    int32("in_channels"),
    int32("height"),
    int32("width"),
    int32("out_channels"),
    int32("out_height"),
    int32("out_width"),
)

HALO_TILE = Substrate(
    name="halo-tile",
    source="halo_tile.cu",
    headers=("conv_stage.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv2d_halo_tile",
                grid=(
                    "ceil_div(out_width, 16)",
                    "ceil_div(out_height, 8)",
                    "batch * ceil_div(out_channels, 8)",
                ),
                block=("16", "8", "1"),
                arguments=ARGUMENTS,
            ),
        )
    ),
)

IMPLICIT_GEMM = Substrate(
    name="implicit-gemm",
    source="implicit_gemm.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv2d_implicit_gemm",
                grid=(
                    "ceil_div(out_height * out_width, 64)",
                    "ceil_div(out_channels, 16)",
                    "batch",
                ),
                block=("128", "1", "1"),
                arguments=ARGUMENTS,
            ),
        )
    ),
)

PROBLEM = convolution_problem(
    Convolution((3, 3)),
    number=55,
    name="55_conv_standard_2D__asymmetric_input__square_kernel",
    axes=("height", "width"),
    kernel=("kernel", "kernel"),
    # Multiples of 16 along both axes leave 4 of the 64 pixels of a tile of the flat image.
    dimensions=(
        parallel("batch", 8),
        summed("in_channels", 64, tile=4),
        parallel("height", 512, tile=16, minimum=3),
        parallel("width", 1024, tile=16, minimum=3),
        parallel("out_channels", 128, tile=16),
        fixed("kernel", 3),
    ),
    derived={"out_height": "height - kernel + 1", "out_width": "width - kernel + 1"},
    substrates=(HALO_TILE, IMPLICIT_GEMM),
)
