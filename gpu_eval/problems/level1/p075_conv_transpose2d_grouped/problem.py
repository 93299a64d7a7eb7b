"""KernelBench level 1, problem 75: a 3 x 5 transposed convolution with everything at once.

Stride 2 x 3, padding 1 x 2, dilation 2 x 1, four groups. As stride and dilation are both 2 along
the height, every second row of the output is zero.
"""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.convolution_transposed import Axis, TransposedConvolution
from gpu_eval.problems.families.convolution_transposed_problem import (
    ONE,
    in_channels,
    integers,
    launch,
    out_channels,
    problem,
)
from gpu_eval.problems.plan import LaunchPlan, int64, pointer

GROUPS = 4
OUTPUTS = "batch * out_channels * out_height * out_width"

# Blocks of 4 x 16 outputs of two channels, and of 32 input pixels of four channels.
OPERATION = TransposedConvolution(
    (
        Axis("height", 128, kernel=3, stride=2, padding=1, dilation=2, tile=2),
        Axis("width", 256, kernel=5, stride=3, padding=2, tile=16),
    ),
    GROUPS,
)
TENSORS = (pointer("x"), pointer("weight"), pointer("y"))
SIZES = integers("group_in_channels height width group_out_channels groups out_height out_width")
STEPS = (
    *integers("stride_height stride_width padding_height padding_width"),
    *integers("dilation_height dilation_width"),
)

GATHER = Substrate(
    name="gather",
    source="gather.cu",
    headers=("deconv_source.cuh",),
    plan=LaunchPlan(
        steps=(
            launch(
                "conv_transpose2d_grouped_gather",
                (
                    "ceil_div(out_width, 16)",
                    "ceil_div(out_height, 4)",
                    "batch * ceil_div(out_channels, 2)",
                ),
                ("16", "4", "2"),
                *TENSORS,
                *SIZES,
                *STEPS,
            ),
        )
    ),
)

SCATTER = Substrate(
    name="scatter",
    source="scatter.cu",
    headers=("deconv_fill.cuh",),
    plan=LaunchPlan(
        steps=(
            launch(
                "deconv_fill",
                (f"min(ceil_div({OUTPUTS}, 256), 2048)", ONE, ONE),
                ("256", ONE, ONE),
                pointer("y"),
                int64(OUTPUTS),
            ),
            launch(
                "conv_transpose2d_grouped_scatter",
                ("ceil_div(height * width, 32)", "ceil_div(out_channels, 4)", "batch"),
                ("32", "4", ONE),
                *TENSORS,
                *SIZES,
                *integers("kernel_height kernel_width"),
                *STEPS,
            ),
        )
    ),
)

PROBLEM = problem(
    75,
    "75_conv_transposed_2D_asymmetric_input_asymmetric_kernel_strided__grouped____padded____dilated__",
    OPERATION,
    batch=16,
    in_channels=in_channels(32, groups=GROUPS),
    out_channels=out_channels(64, groups=GROUPS),
    substrates=(GATHER, SCATTER),
    controls=OPERATION.controls(GATHER),
)
