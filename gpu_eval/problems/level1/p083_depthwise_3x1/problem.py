"""KernelBench level 1, problem 83: a depthwise convolution with a column of three taps."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.convolution import Convolution
from gpu_eval.problems.families.convolution_problem import (
    convolution_problem,
    fixed,
    parallel,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer

VECTOR_ARGUMENTS = (
    pointer("x"),
    pointer("weight"),
    pointer("y"),
    int32("channels"),
    int32("height"),
    int32("width"),
    int32("out_height"),
)

STRIDE_ARGUMENTS = (
    pointer("x"),
    pointer("weight"),
    pointer("y"),
    int32("batch"),
    int32("channels"),
    int32("height"),
    int32("width"),
    int32("out_height"),
    int32("kernel"),
)

VECTORISED = Substrate(
    name="vectorised",
    source="vectorised.cu",
    headers=("conv_vector.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="depthwise_vectorised",
                grid=("ceil_div(width, 32)", "ceil_div(out_height, 32)", "batch * channels"),
                block=("8", "16", "1"),
                arguments=VECTOR_ARGUMENTS,
            ),
        ),
    ),
)

GRID_STRIDE = Substrate(
    name="grid-stride",
    source="grid_stride.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="depthwise_grid_stride",
                grid=("min(ceil_div(batch * channels * out_height * width, 256), 2048)", "1", "1"),
                block=("256", "1", "1"),
                arguments=STRIDE_ARGUMENTS,
            ),
        ),
    ),
)

PROBLEM = convolution_problem(
    Convolution((3, 1), depthwise=True),
    number=83,
    name="83_conv_depthwise_2D_square_input_asymmetric_kernel",
    axes=("height", "width"),
    kernel=("kernel", "1"),
    dimensions=(
        parallel("batch", 64),
        parallel("channels", 8),
        parallel("height", 512, tile=32, minimum=3),
        parallel("width", 512, tile=32),
        fixed("kernel", 3),
    ),
    derived={"out_height": "height - kernel + 1", "out_width": "width"},
    substrates=(
        VECTORISED,
        GRID_STRIDE,
    ),
)
