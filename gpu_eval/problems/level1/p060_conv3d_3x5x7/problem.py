"""KernelBench level 1, problem 60: a 3 x 5 x 7 convolution of 64 x 64 x 64 voxels."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.convolution import Convolution
from gpu_eval.problems.families.convolution_problem import (
    convolution_problem,
    fixed,
    parallel,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, int64, pointer

OUTPUTS = "batch * out_channels * out_width * out_height * out_depth"

STRIDE_ARGUMENTS = (
    pointer("x"),
    pointer("weight"),
    pointer("y"),
    int64(OUTPUTS),
    int32("in_channels"),
    int32("width"),
    int32("height"),
    int32("depth"),
    int32("out_channels"),
    int32("out_width"),
    int32("out_height"),
    int32("out_depth"),
    int32("kernel_width"),
    int32("kernel_height"),
    int32("kernel_depth"),
)

ARGUMENTS = (
    pointer("x"),
    pointer("weight"),
    pointer("y"),
    int32("in_channels"),
    int32("width"),
    int32("height"),
    int32("depth"),
    int32("out_channels"),
    int32("out_width"),
    int32("out_height"),
    int32("out_depth"),
)

GRID_STRIDE = Substrate(
    name="grid-stride",
    source="grid_stride.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv3d_grid_stride",
                grid=(f"min(ceil_div({OUTPUTS}, 256), 2048)", "1", "1"),
                block=("256", "1", "1"),
                arguments=STRIDE_ARGUMENTS,
            ),
        ),
    ),
)

SLIDING_DEPTH = Substrate(
    name="sliding-depth",
    source="sliding_depth.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv3d_sliding_depth",
                grid=(
                    "ceil_div(out_depth, 8)",
                    "ceil_div(out_height, 8)",
                    "batch * ceil_div(out_channels, 8) * out_width",
                ),
                block=("2", "8", "8"),
                arguments=ARGUMENTS,
            ),
        ),
    ),
)

PROBLEM = convolution_problem(
    Convolution((3, 5, 7)),
    number=60,
    name="60_conv_standard_3D__square_input__asymmetric_kernel",
    axes=("width", "height", "depth"),
    kernel=("kernel_width", "kernel_height", "kernel_depth"),
    dimensions=(
        parallel("batch", 16),
        fixed("in_channels", 3),
        parallel("width", 64, tile=8, minimum=3),
        parallel("height", 64, tile=8, minimum=5),
        parallel("depth", 64, tile=8, minimum=7),
        parallel("out_channels", 64, tile=8),
        fixed("kernel_width", 3),
        fixed("kernel_height", 5),
        fixed("kernel_depth", 7),
    ),
    derived={
        "out_width": "width - kernel_width + 1",
        "out_height": "height - kernel_height + 1",
        "out_depth": "depth - kernel_depth + 1",
    },
    substrates=(
        GRID_STRIDE,
        SLIDING_DEPTH,
    ),
)
