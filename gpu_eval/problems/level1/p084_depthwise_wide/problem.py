"""KernelBench level 1, problem 84: a depthwise 3 x 3 convolution of wide images."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.convolution import Convolution
from gpu_eval.problems.families.convolution_problem import (
    convolution_problem,
    fixed,
    parallel,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer

ARGUMENTS = (
    pointer("x"),
    pointer("weight"),
    pointer("y"),
    int32("channels"),
    int32("height"),
    int32("width"),
    int32("out_height"),
    int32("out_width"),
)

WARP_ROWS = Substrate(
    name="warp-rows",
    source="warp_rows.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="depthwise_warp_rows",
                grid=("ceil_div(out_width, 32)", "ceil_div(out_height, 16)", "batch * channels"),
                block=("128", "1", "1"),
                arguments=ARGUMENTS,
            ),
        ),
    ),
)

QUADS = Substrate(
    name="quads",
    source="quads.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="depthwise_quads",
                grid=("ceil_div(out_width, 32)", "ceil_div(out_height, 16)", "batch * channels"),
                block=("16", "8", "1"),
                arguments=ARGUMENTS,
            ),
        ),
    ),
)

PROBLEM = convolution_problem(
    Convolution((3, 3), depthwise=True),
    number=84,
    name="84_conv_depthwise_2D_asymmetric_input_square_kernel",
    axes=("height", "width"),
    kernel=("kernel", "kernel"),
    dimensions=(
        parallel("batch", 64),
        parallel("channels", 128),
        parallel("height", 256, tile=16, minimum=3),
        parallel("width", 512, tile=32, minimum=3),
        fixed("kernel", 3),
    ),
    derived={"out_height": "height - kernel + 1", "out_width": "width - kernel + 1"},
    substrates=(
        WARP_ROWS,
        QUADS,
    ),
)
