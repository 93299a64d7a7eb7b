"""KernelBench level 1, problem 78: a 3 x 7 transposed convolution that keeps the image's shape."""

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
from gpu_eval.problems.plan import LaunchPlan, pointer

# Blocks of 4 x 32 outputs, and of 8 x 64.
OPERATION = TransposedConvolution(
    (
        Axis("height", 512, kernel=3, padding=1, tile=8),
        Axis("width", 1024, kernel=7, padding=3, tile=64),
    )
)
ARGUMENTS = (
    pointer("x"),
    pointer("weight"),
    pointer("y"),
    *integers("in_channels height width out_channels"),
)

TILED = Substrate(
    name="tiled",
    source="tiled.cu",
    plan=LaunchPlan(
        steps=(
            launch(
                "conv_transpose2d_padded_tiled",
                ("ceil_div(width, 32)", "ceil_div(height, 4)", "batch * ceil_div(out_channels, 2)"),
                ("32", "4", ONE),
                *ARGUMENTS,
            ),
        )
    ),
)

VECTORISED = Substrate(
    name="vectorised",
    source="vectorised.cu",
    plan=LaunchPlan(
        steps=(
            launch(
                "conv_transpose2d_padded_vectorised",
                ("ceil_div(width, 64)", "ceil_div(height, 8)", "batch * out_channels"),
                ("16", "8", ONE),
                *ARGUMENTS,
            ),
        )
    ),
)

PROBLEM = problem(
    78,
    "78_conv_transposed_2D_asymmetric_input_asymmetric_kernel___padded__",
    OPERATION,
    batch=8,
    in_channels=in_channels(32),
    out_channels=out_channels(32, tile=2),
    substrates=(TILED, VECTORISED),
    controls=OPERATION.controls(TILED),
)
