"""KernelBench level 1, problem 59: a 3 x 3 x 1 convolution of flat volumes, 256 x 256 x 10."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.convolution import Convolution
from gpu_eval.problems.families.convolution_problem import (
    convolution_problem,
    fixed,
    parallel,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer

FLAT_ARGUMENTS = (
    pointer("x"),
    pointer("weight"),
    pointer("y"),
    int32("in_channels"),
    int32("height"),
    int32("width"),
    int32("depth"),
    int32("out_channels"),
    int32("out_height"),
    int32("out_width"),
)

STATIONARY_ARGUMENTS = (
    pointer("x"),
    pointer("weight"),
    pointer("y"),
    int32("height"),
    int32("width"),
    int32("depth"),
    int32("out_channels"),
    int32("out_height"),
    int32("out_width"),
)

FLAT_ROWS = Substrate(
    name="flat-rows",
    source="flat_rows.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv3d_flat_rows",
                grid=(
                    "ceil_div(out_width * depth, 32)",
                    "ceil_div(out_height, 4)",
                    "batch * ceil_div(out_channels, 4)",
                ),
                block=("32", "4", "1"),
                shared="4 * 4 * in_channels * kernel * kernel",
                arguments=FLAT_ARGUMENTS,
            ),
        ),
    ),
)

INPUT_STATIONARY = Substrate(
    name="input-stationary",
    source="input_stationary.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv3d_input_stationary",
                grid=("ceil_div(out_width, 16)", "out_height", "batch"),
                block=("128", "1", "1"),
                shared="4 * in_channels * kernel * (16 + kernel - 1) * depth",
                arguments=STATIONARY_ARGUMENTS,
            ),
        ),
    ),
)

PROBLEM = convolution_problem(
    Convolution((3, 3, 1)),
    number=59,
    name="59_conv_standard_3D__asymmetric_input__square_kernel",
    axes=("height", "width", "depth"),
    kernel=("kernel", "kernel", "1"),
    # Multiples of 16 along the width leave 12 of the last 32 elements of a row of 10 times as many.
    dimensions=(
        parallel("batch", 16),
        fixed("in_channels", 3),
        parallel("height", 256, tile=4, minimum=3),
        parallel("width", 256, tile=16, minimum=3),
        parallel("depth", 10, tile=10),
        parallel("out_channels", 64, tile=4),
        fixed("kernel", 3),
    ),
    derived={
        "out_height": "height - kernel + 1",
        "out_width": "width - kernel + 1",
        "out_depth": "depth",
    },
    substrates=(
        FLAT_ROWS,
        INPUT_STATIONARY,
    ),
)
