"""KernelBench level 1, problem 87: a 1 x 1 convolution of large images."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.convolution import Convolution
from gpu_eval.problems.families.convolution_problem import (
    convolution_problem,
    parallel,
    summed,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, int64, pointer

GEMM_ARGUMENTS = (
    pointer("x"),
    pointer("weight"),
    pointer("y"),
    int32("in_channels"),
    int32("out_channels"),
    int32("height * width"),
)

VECTOR_ARGUMENTS = (
    pointer("x"),
    pointer("weight"),
    pointer("y"),
    int32("in_channels"),
    int32("out_channels"),
    int64("height * width"),
)

BATCHED_GEMM = Substrate(
    name="batched-gemm",
    source="batched_gemm.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="pointwise_gemm",
                grid=("ceil_div(height * width, 48)", "ceil_div(out_channels, 24)", "batch"),
                block=("16", "8", "1"),
                arguments=GEMM_ARGUMENTS,
            ),
        ),
    ),
)

VECTORISED = Substrate(
    name="vectorised",
    source="vectorised.cu",
    headers=("conv_vector.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="pointwise_vectorised",
                grid=("ceil_div(height * width, 64)", "ceil_div(out_channels, 24)", "batch"),
                block=("16", "8", "1"),
                shared="4 * 24 * in_channels",
                arguments=VECTOR_ARGUMENTS,
            ),
        ),
    ),
)

PROBLEM = convolution_problem(
    Convolution((1, 1)),
    number=87,
    name="87_conv_pointwise_2D",
    axes=("height", "width"),
    kernel=("1", "1"),
    # Of 48 pixels and 24 channels a block the last ones have 16 and 8, at these sizes too.
    dimensions=(
        parallel("batch", 16),
        summed("in_channels", 64, tile=8),
        parallel("height", 1024, tile=24),
        parallel("width", 1024, tile=24),
        parallel("out_channels", 128, tile=24),
    ),
    derived={"out_height": "height", "out_width": "width"},
    substrates=(
        BATCHED_GEMM,
        VECTORISED,
    ),
)
