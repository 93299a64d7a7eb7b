"""KernelBench level 1, problem 67: a 1D convolution of long signals, three taps."""

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
    int32("length"),
    int32("out_channels"),
    int32("out_length"),
)

TILED = Substrate(
    name="tiled",
    source="tiled.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv1d_tiled",
                grid=("ceil_div(out_length, 64)", "ceil_div(out_channels, 24)", "batch"),
                block=("128", "1", "1"),
                arguments=ARGUMENTS,
            ),
        ),
    ),
)

WARP_WINDOW = Substrate(
    name="warp-window",
    source="warp_window.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv1d_warp_window",
                grid=("ceil_div(out_length, 32)", "ceil_div(out_channels, 16)", "batch"),
                block=("128", "1", "1"),
                arguments=ARGUMENTS,
            ),
        ),
    ),
)

PROBLEM = convolution_problem(
    Convolution((3,)),
    number=67,
    name="67_conv_standard_1D",
    axes=("length",),
    kernel=("kernel",),
    dimensions=(
        parallel("batch", 32),
        summed("in_channels", 64, tile=6),
        parallel("length", 131072, tile=64, minimum=3),
        parallel("out_channels", 128, tile=48),
        fixed("kernel", 3),
    ),
    derived={"out_length": "length - kernel + 1"},
    substrates=(
        TILED,
        WARP_WINDOW,
    ),
)
