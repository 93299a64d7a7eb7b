"""KernelBench level 1, problem 56: a 5 x 7 convolution of an image twice as high as wide."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.convolution import Convolution
from gpu_eval.problems.families.convolution_problem import (
    convolution_problem,
    fixed,
    parallel,
    summed,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, int32, int64, pointer

OUTPUTS = "batch * out_channels * out_height * out_width"

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

PARTIAL_ARGUMENTS = (
    pointer("x"),
    pointer("weight"),
    pointer("partial"),
    int32("batch"),
    int32("in_channels"),
    int32("height"),
    int32("width"),
    int32("out_channels"),
    int32("out_height"),
    int32("out_width"),
    int32("kernel_height"),
    int32("kernel_width"),
)

SUM_ARGUMENTS = (
    pointer("partial"),
    pointer("y"),
    int64(OUTPUTS),
)

SLIDING_ROW = Substrate(
    name="sliding-row",
    source="sliding_row.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv2d_sliding_row",
                grid=(
                    "ceil_div(out_width, 32)",
                    "out_height",
                    "batch * ceil_div(out_channels, 16)",
                ),
                block=("8", "16", "1"),
                arguments=ARGUMENTS,
            ),
        ),
    ),
)

SPLIT_CHANNELS = Substrate(
    name="split-channels",
    source="split_channels.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv2d_partial",
                grid=(
                    "ceil_div(out_width, 32)",
                    "ceil_div(out_height, 4)",
                    "batch * ceil_div(out_channels, 4) * 4",
                ),
                block=("32", "4", "1"),
                arguments=PARTIAL_ARGUMENTS,
            ),
            Launch(
                kernel="add_partials",
                grid=(f"min(ceil_div({OUTPUTS}, 256), 1024)", "1", "1"),
                block=("256", "1", "1"),
                arguments=SUM_ARGUMENTS,
            ),
        ),
        workspaces=(Workspace("partial", f"4 * {OUTPUTS}"),),
    ),
)

PROBLEM = convolution_problem(
    Convolution((5, 7)),
    number=56,
    name="56_conv_standard_2D__asymmetric_input__asymmetric_kernel",
    axes=("height", "width"),
    kernel=("kernel_height", "kernel_width"),
    dimensions=(
        parallel("batch", 8),
        summed("in_channels", 64, tile=4),
        parallel("height", 512, tile=4, minimum=5),
        parallel("width", 256, tile=32, minimum=7),
        parallel("out_channels", 128, tile=16),
        fixed("kernel_height", 5),
        fixed("kernel_width", 7),
    ),
    derived={"out_height": "height - kernel_height + 1", "out_width": "width - kernel_width + 1"},
    substrates=(
        SLIDING_ROW,
        SPLIT_CHANNELS,
    ),
)
