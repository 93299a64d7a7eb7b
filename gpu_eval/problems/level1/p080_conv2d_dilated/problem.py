"""KernelBench level 1, problem 80: a 5 x 9 convolution, dilated and padded."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.convolution import Convolution
from gpu_eval.problems.families.convolution_problem import (
    convolution_problem,
    fixed,
    parallel,
    summed,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer

PADDING, DILATION = (2, 4), (2, 3)

DIRECT_ARGUMENTS = (
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
    int32("padding_height"),
    int32("padding_width"),
    int32("dilation_height"),
    int32("dilation_width"),
)

GEMM_ARGUMENTS = (
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

DIRECT = Substrate(
    name="direct",
    source="direct.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv2d_dilated",
                grid=(
                    "ceil_div(out_width, 32)",
                    "ceil_div(out_height, 4)",
                    "batch * ceil_div(out_channels, 4)",
                ),
                block=("32", "4", "1"),
                shared="4 * 4 * in_channels * kernel_height * kernel_width",
                arguments=DIRECT_ARGUMENTS,
            ),
        ),
    ),
)

IMPLICIT_GEMM = Substrate(
    name="implicit-gemm",
    source="implicit_gemm.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv2d_dilated_gemm",
                grid=(
                    "ceil_div(out_height * out_width, 128)",
                    "ceil_div(out_channels, 16)",
                    "batch",
                ),
                block=("256", "1", "1"),
                arguments=GEMM_ARGUMENTS,
            ),
        ),
    ),
)

PROBLEM = convolution_problem(
    Convolution((5, 9), padding=PADDING, dilation=DILATION),
    number=80,
    name="80_conv_standard_2D_square_input_asymmetric_kernel___dilated____padded__",
    axes=("height", "width"),
    kernel=("kernel_height", "kernel_width"),
    # Multiples of 32 along both axes leave half of the last 128 pixels of a flat image.
    dimensions=(
        parallel("batch", 8),
        summed("in_channels", 32),
        parallel("height", 512, tile=32, minimum=5),
        parallel("width", 512, tile=32, minimum=17),
        parallel("out_channels", 64, tile=16),
        fixed("kernel_height", 5),
        fixed("kernel_width", 9),
    ),
    derived={
        "out_height": "height + 2 * padding_height - dilation_height * (kernel_height - 1)",
        "out_width": "width + 2 * padding_width - dilation_width * (kernel_width - 1)",
    },
    scalars={
        "padding_height": PADDING[0],
        "padding_width": PADDING[1],
        "dilation_height": DILATION[0],
        "dilation_width": DILATION[1],
    },
    substrates=(
        DIRECT,
        IMPLICIT_GEMM,
    ),
)
