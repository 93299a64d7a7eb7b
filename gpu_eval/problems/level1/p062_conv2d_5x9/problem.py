"""KernelBench level 1, problem 62: a 5 x 9 convolution of a square image."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.convolution import Convolution
from gpu_eval.problems.families.convolution_problem import (
    convolution_problem,
    fixed,
    parallel,
    summed,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer

GENERIC_ARGUMENTS = (
    pointer("x"),
    pointer("weight"),
    pointer("y"),
    int32("in_channels"),
    int32("height"),
    int32("width"),
    int32("out_channels"),
    int32("out_height"),
    int32("out_width"),
    int32("kernel_height"),
    int32("kernel_width"),
)

ROW_ARGUMENTS = (
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

HALO = "(32 + kernel_width - 1) * (4 + kernel_height - 1)"
FILTERS = "4 * kernel_height * kernel_width"

HALO_GENERIC = Substrate(
    name="halo-generic",
    source="halo_generic.cu",
    headers=("conv_stage.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv2d_halo_generic",
                grid=(
                    "ceil_div(out_width, 32)",
                    "ceil_div(out_height, 4)",
                    "batch * ceil_div(out_channels, 4)",
                ),
                block=("32", "4", "1"),
                shared=f"4 * ({HALO} + {FILTERS})",
                arguments=GENERIC_ARGUMENTS,
            ),
        ),
    ),
)

ROW_GEMM = Substrate(
    name="row-gemm",
    source="row_gemm.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv2d_row_gemm",
                grid=("ceil_div(out_width, 32)", "batch * out_height", "ceil_div(out_channels, 8)"),
                block=("128", "1", "1"),
                arguments=ROW_ARGUMENTS,
            ),
        ),
    ),
)

PROBLEM = convolution_problem(
    Convolution((5, 9)),
    number=62,
    name="62_conv_standard_2D__square_input__asymmetric_kernel",
    axes=("height", "width"),
    kernel=("kernel_height", "kernel_width"),
    dimensions=(
        parallel("batch", 8),
        summed("in_channels", 32),
        parallel("height", 512, tile=32, minimum=5),
        parallel("width", 512, tile=32, minimum=9),
        parallel("out_channels", 64, tile=8),
        fixed("kernel_height", 5),
        fixed("kernel_width", 9),
    ),
    derived={"out_height": "height - kernel_height + 1", "out_width": "width - kernel_width + 1"},
    substrates=(
        HALO_GENERIC,
        ROW_GEMM,
    ),
)
