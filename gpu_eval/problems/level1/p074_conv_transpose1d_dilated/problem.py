"""KernelBench level 1, problem 74: a transposed convolution of signals, five taps three apart."""

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

# Blocks of 64 outputs; columns in tiles of 16 rows, five of which are a channel's.
OPERATION = TransposedConvolution((Axis("length", 131072, kernel=5, dilation=3, tile=64),))

HALO = Substrate(
    name="halo",
    source="halo.cu",
    plan=LaunchPlan(
        steps=(
            launch(
                "conv_transpose1d_halo",
                ("ceil_div(out_length, 64)", "ceil_div(out_channels, 8)", "batch"),
                ("64", "2", ONE),
                pointer("x"),
                pointer("weight"),
                pointer("y"),
                *integers("in_channels length out_channels out_length"),
            ),
        )
    ),
)

COL2IM = Substrate(
    name="col2im",
    source="col2im.cu",
    headers=("deconv_columns.cuh",),
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
                        "fold_signal",
                        ("ceil_div(out_length, 64)", "ceil_div(out_channels, 2)", ONE),
                        ("64", "2", ONE),
                        pointer("columns"),
                        pointer("y"),
                        *integers("image length out_channels out_length"),
                        *integers("kernel_length dilation_length"),
                    ),
                ),
            ),
        ),
    ),
)

PROBLEM = problem(
    74,
    "74_conv_transposed_1D_dilated",
    OPERATION,
    batch=32,
    in_channels=in_channels(32, tile=16),
    out_channels=out_channels(64, tile=16),
    substrates=(HALO, COL2IM),
    controls=OPERATION.controls(HALO),
)
