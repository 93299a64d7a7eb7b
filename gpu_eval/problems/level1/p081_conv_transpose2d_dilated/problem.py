"""KernelBench level 1, problem 81: a 3 x 3 transposed convolution, stride 5 and dilation 2."""

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

OUTPUTS = "batch * out_channels * out_height * out_width"

# Blocks of 4 x 8 outputs of four channels, and of 32 input pixels of four channels.
OPERATION = TransposedConvolution(
    (
        Axis("height", 64, kernel=3, stride=5, padding=1, dilation=2, tile=4),
        Axis("width", 128, kernel=3, stride=5, padding=1, dilation=2, tile=8),
    )
)
TENSORS = (pointer("x"), pointer("weight"), pointer("y"))
SIZES = integers("in_channels height width out_channels out_height out_width")

GATHER = Substrate(
    name="gather",
    source="gather.cu",
    headers=("deconv_source.cuh",),
    plan=LaunchPlan(
        steps=(
            launch(
                "conv_transpose2d_sparse_gather",
                (
                    "ceil_div(out_width, 8)",
                    "ceil_div(out_height, 4)",
                    "batch * ceil_div(out_channels, 4)",
                ),
                ("8", "4", "4"),
                *TENSORS,
                *SIZES,
            ),
        )
    ),
)

SINGLE_WRITER = Substrate(
    name="single-writer",
    source="single_writer.cu",
    headers=("deconv_fill.cuh",),
    plan=LaunchPlan(
        steps=(
            launch(
                "deconv_fill",
                (f"min(ceil_div({OUTPUTS}, 256), 1024)", ONE, ONE),
                ("256", ONE, ONE),
                pointer("y"),
                int64(OUTPUTS),
            ),
            launch(
                "conv_transpose2d_single_writer",
                ("ceil_div(height * width, 32)", "ceil_div(out_channels, 4)", "batch"),
                ("32", "4", ONE),
                *TENSORS,
                *SIZES,
                *integers("stride_height padding_height dilation_height"),
            ),
        )
    ),
)

PROBLEM = problem(
    81,
    "81_conv_transposed_2D_asymmetric_input_square_kernel___dilated____padded____strided__",
    OPERATION,
    batch=16,
    in_channels=in_channels(32),
    out_channels=out_channels(64, tile=4),
    substrates=(GATHER, SINGLE_WRITER),
    controls=OPERATION.controls(GATHER),
)
