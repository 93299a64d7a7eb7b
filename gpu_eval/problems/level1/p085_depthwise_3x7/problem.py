"""KernelBench level 1, problem 85: a depthwise 3 x 7 convolution of wide images."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.convolution import Convolution
from gpu_eval.problems.families.convolution_problem import (
    convolution_problem,
    fixed,
    parallel,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer

STRIP_ARGUMENTS = (
    pointer("x"),
    pointer("weight"),
    pointer("y"),
    int32("channels"),
    int32("height"),
    int32("width"),
    int32("out_height"),
    int32("out_width"),
    int32("kernel_height"),
    int32("kernel_width"),
)

WINDOW_ARGUMENTS = (
    pointer("x"),
    pointer("weight"),
    pointer("y"),
    int32("channels"),
    int32("height"),
    int32("width"),
    int32("out_height"),
    int32("out_width"),
)

HALO_STRIPS = Substrate(
    name="halo-strips",
    source="halo_strips.cu",
    headers=("conv_stage.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="depthwise_halo_strips",
                grid=("batch * channels", "ceil_div(out_width, 32)", "ceil_div(out_height, 16)"),
                block=("32", "4", "1"),
                shared="4 * (32 + kernel_width - 1) * (16 + kernel_height - 1)",
                arguments=STRIP_ARGUMENTS,
            ),
        ),
    ),
)

ROW_WINDOW = Substrate(
    name="row-window",
    source="row_window.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="depthwise_row_window",
                grid=("ceil_div(out_width, 32)", "ceil_div(out_height, 16)", "batch * channels"),
                block=("8", "16", "1"),
                arguments=WINDOW_ARGUMENTS,
            ),
        ),
    ),
)

PROBLEM = convolution_problem(
    Convolution((3, 7), depthwise=True),
    number=85,
    name="85_conv_depthwise_2D_asymmetric_input_asymmetric_kernel",
    axes=("height", "width"),
    kernel=("kernel_height", "kernel_width"),
    dimensions=(
        parallel("batch", 32),
        parallel("channels", 128),
        parallel("height", 128, tile=16, minimum=3),
        parallel("width", 256, tile=32, minimum=7),
        fixed("kernel_height", 3),
        fixed("kernel_width", 7),
    ),
    derived={"out_height": "height - kernel_height + 1", "out_width": "width - kernel_width + 1"},
    substrates=(
        HALO_STRIPS,
        ROW_WINDOW,
    ),
)
