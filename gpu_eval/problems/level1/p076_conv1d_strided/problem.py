"""KernelBench level 1, problem 76: a 1D convolution with stride 3 and dilation 4."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.convolution import Convolution
from gpu_eval.problems.families.convolution_problem import (
    convolution_problem,
    fixed,
    parallel,
    summed,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer

STRIDE, DILATION = 3, 4

DIRECT_ARGUMENTS = (
    pointer("x"),
    pointer("weight"),
    pointer("y"),
    int32("in_channels"),
    int32("length"),
    int32("out_channels"),
    int32("out_length"),
    int32("kernel"),
    int32("stride"),
    int32("dilation"),
)

STAGED_ARGUMENTS = (
    pointer("x"),
    pointer("weight"),
    pointer("y"),
    int32("in_channels"),
    int32("length"),
    int32("out_channels"),
    int32("out_length"),
)

DIRECT = Substrate(
    name="direct",
    source="direct.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv1d_direct",
                grid=("ceil_div(out_length, 128)", "ceil_div(out_channels, 8)", "batch"),
                block=("128", "1", "1"),
                shared="4 * 8 * in_channels * kernel",
                arguments=DIRECT_ARGUMENTS,
            ),
        ),
    ),
)

STAGED = Substrate(
    name="staged",
    source="staged.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv1d_staged",
                grid=("ceil_div(out_length, 64)", "ceil_div(out_channels, 12)", "batch"),
                block=("128", "1", "1"),
                arguments=STAGED_ARGUMENTS,
            ),
        ),
    ),
)

PROBLEM = convolution_problem(
    Convolution((3,), stride=(STRIDE,), dilation=(DILATION,)),
    number=76,
    name="76_conv_standard_1D_dilated_strided__",
    axes=("length",),
    kernel=("kernel",),
    # Blocks cover 128 outputs, which are 384 samples.
    dimensions=(
        parallel("batch", 64),
        summed("in_channels", 64, tile=5),
        parallel("length", 524280, tile=384, minimum=9),
        parallel("out_channels", 128, tile=24),
        fixed("kernel", 3),
    ),
    derived={"out_length": "(length - dilation * (kernel - 1) - 1) // stride + 1"},
    scalars={"stride": STRIDE, "dilation": DILATION},
    substrates=(
        DIRECT,
        STAGED,
    ),
)
