"""KernelBench level 1, problem 79: a transposed convolution of signals, stride 2 and dilation 2.

As stride and dilation are equal, every second output is zero.
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
from gpu_eval.problems.plan import LaunchPlan, Repeat, Workspace, int32, pointer

ROWS = "out_channels * kernel_length"

# Blocks of 32 pairs of outputs, and of 64 outputs.
OPERATION = TransposedConvolution(
    (Axis("length", 131072, kernel=3, stride=2, padding=1, dilation=2, tile=32),)
)

PAIRS = Substrate(
    name="pairs",
    source="pairs.cu",
    plan=LaunchPlan(
        steps=(
            launch(
                "conv_transpose1d_pairs",
                ("ceil_div(length + 1, 32)", "ceil_div(out_channels, 4)", "batch"),
                ("32", "4", ONE),
                pointer("x"),
                pointer("weight"),
                pointer("y"),
                *integers("in_channels length out_channels"),
            ),
        )
    ),
)

COL2IM = Substrate(
    name="col2im",
    source="col2im.cu",
    headers=("deconv_columns.cuh", "deconv_source.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("columns", f"{ROWS} * length"),),
        steps=(
            Repeat(
                "image",
                "0",
                "batch",
                (
                    launch(
                        "deconv_columns",
                        ("ceil_div(length, 16)", f"ceil_div({ROWS}, 16)", ONE),
                        ("16", "16", ONE),
                        pointer("x"),
                        pointer("weight"),
                        pointer("columns"),
                        *integers("image in_channels"),
                        int32(ROWS),
                        int32("length"),
                    ),
                    launch(
                        "fold_strided",
                        ("ceil_div(out_length, 64)", "ceil_div(out_channels, 2)", ONE),
                        ("64", "2", ONE),
                        pointer("columns"),
                        pointer("y"),
                        *integers("image length out_channels out_length kernel_length"),
                        *integers("stride_length padding_length dilation_length"),
                    ),
                ),
            ),
        ),
    ),
)

PROBLEM = problem(
    79,
    "79_conv_transposed_1D_asymmetric_input_square_kernel___padded____strided____dilated__",
    OPERATION,
    batch=16,
    in_channels=in_channels(32, tile=16),
    out_channels=out_channels(64, tile=16),
    substrates=(PAIRS, COL2IM),
    controls=OPERATION.controls(PAIRS),
)
