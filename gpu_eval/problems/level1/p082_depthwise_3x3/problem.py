"""KernelBench level 1, problem 82: a depthwise 3 x 3 convolution of square images."""

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

HALO_TILE = Substrate(
    name="halo-tile",
    source="halo_tile.cu",
    headers=("conv_stage.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="depthwise_halo_tile",
                grid=("ceil_div(out_width, 32)", "ceil_div(out_height, 8)", "batch * channels"),
                block=("32", "8", "1"),
                arguments=ARGUMENTS,
            ),
        ),
    ),
)

SLIDING_COLUMN = Substrate(
    name="sliding-column",
    source="sliding_column.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="depthwise_sliding_column",
                grid=("ceil_div(out_width, 32)", "ceil_div(out_height, 32)", "batch * channels"),
                block=("32", "4", "1"),
                arguments=ARGUMENTS,
            ),
        ),
    ),
)

PROBLEM = convolution_problem(
    Convolution((3, 3), depthwise=True),
    number=82,
    name="82_conv_depthwise_2D_square_input_square_kernel",
    axes=("height", "width"),
    kernel=("kernel", "kernel"),
    dimensions=(
        parallel("batch", 16),
        parallel("channels", 64),
        parallel("height", 512, tile=32, minimum=3),
        parallel("width", 512, tile=32, minimum=3),
        fixed("kernel", 3),
    ),
    derived={"out_height": "height - kernel + 1", "out_width": "width - kernel + 1"},
    substrates=(
        HALO_TILE,
        SLIDING_COLUMN,
    ),
)
