"""KernelBench level 1, problem 71: a 3 x 3 transposed convolution of oblong images."""

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
from gpu_eval.problems.plan import LaunchPlan, Workspace, int32, pointer

ROWS = "out_channels * kernel_height * kernel_width"
PIXELS = "height * width"

# Blocks of 8 rows of 32 outputs; columns come in tiles of 32 pixels.
OPERATION = TransposedConvolution(
    (Axis("height", 512, kernel=3, tile=8), Axis("width", 1024, kernel=3, tile=32))
)

QUADS = Substrate(
    name="quads",
    source="quads.cu",
    plan=LaunchPlan(
        steps=(
            launch(
                "conv_transpose2d_quads",
                (
                    "ceil_div(out_width, 32)",
                    "ceil_div(out_height, 8)",
                    "batch * ceil_div(out_channels, 2)",
                ),
                ("8", "8", "2"),
                pointer("x"),
                pointer("weight"),
                pointer("y"),
                *integers("in_channels height width out_channels out_height out_width"),
            ),
        )
    ),
)

COL2IM = Substrate(
    name="col2im",
    source="col2im.cu",
    plan=LaunchPlan(
        workspaces=(Workspace("columns", f"batch * {ROWS} * {PIXELS}"),),
        steps=(
            launch(
                "make_columns",
                (f"ceil_div({PIXELS}, 32)", "ceil_div(out_channels, 4)", "batch"),
                ("128", ONE, ONE),
                pointer("x"),
                pointer("weight"),
                pointer("columns"),
                *integers("in_channels"),
                int32(ROWS),
                int32(PIXELS),
            ),
            launch(
                "fold_columns",
                ("ceil_div(out_width, 32)", "ceil_div(out_height, 8)", "batch * out_channels"),
                ("32", "8", ONE),
                pointer("columns"),
                pointer("y"),
                *integers("height width out_height out_width kernel_height"),
            ),
        ),
    ),
)

PROBLEM = problem(
    71,
    "71_conv_transposed_2D__asymmetric_input__square_kernel",
    OPERATION,
    batch=8,
    in_channels=in_channels(32, tile=8),
    out_channels=out_channels(32, tile=4),
    substrates=(QUADS, COL2IM),
    controls=OPERATION.controls(QUADS),
)
