"""KernelBench level 1, problem 63: a 3 x 3 convolution of large square images."""

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
    int32("height"),
    int32("width"),
    int32("out_channels"),
    int32("out_height"),
    int32("out_width"),
)

PATCH_REGISTERS = Substrate(
    name="patch-registers",
    source="patch_registers.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv2d_patch_registers",
                grid=(
                    "ceil_div(out_width, 32)",
                    "ceil_div(out_height, 16)",
                    "batch * ceil_div(out_channels, 6)",
                ),
                block=("16", "8", "1"),
                arguments=ARGUMENTS,
            ),
        ),
    ),
)

WINOGRAD = Substrate(
    name="winograd-fused",
    source="winograd.cu",
    headers=("conv_winograd.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv2d_winograd",
                grid=(
                    "ceil_div(out_width, 32)",
                    "ceil_div(out_height, 16)",
                    "batch * ceil_div(out_channels, 4)",
                ),
                block=("16", "8", "1"),
                arguments=ARGUMENTS,
            ),
        ),
    ),
)

PROBLEM = convolution_problem(
    Convolution((3, 3)),
    number=63,
    name="63_conv_standard_2D__square_input__square_kernel",
    axes=("height", "width"),
    kernel=("kernel", "kernel"),
    dimensions=(
        parallel("batch", 16),
        fixed("in_channels", 16),
        parallel("height", 1024, tile=32, minimum=3),
        parallel("width", 1024, tile=32, minimum=3),
        parallel("out_channels", 128, tile=12),
        fixed("kernel", 3),
    ),
    derived={"out_height": "height - kernel + 1", "out_width": "width - kernel + 1"},
    substrates=(
        PATCH_REGISTERS,
        WINOGRAD,
    ),
)
