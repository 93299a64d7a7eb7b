"""KernelBench level 1, problem 58: a 3 x 5 x 7 transposed convolution of long volumes."""

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

# 16 outputs of 8 lines a block, and 16 x 4 x 2: (2 m + 2) x (4 n + 4) lines are whole eights.
OPERATION = TransposedConvolution(
    (
        Axis("depth", 16, kernel=3, tile=2),
        Axis("height", 32, kernel=5, tile=4),
        Axis("width", 64, kernel=7, tile=16),
    )
)
ARGUMENTS = (
    pointer("x"),
    pointer("weight"),
    pointer("y"),
    *integers("in_channels depth height width out_channels out_depth out_height out_width"),
)

DIRECT = Substrate(
    name="direct",
    source="direct.cu",
    plan=LaunchPlan(
        steps=(
            launch(
                "conv_transpose3d_direct",
                (
                    "ceil_div(out_width, 16)",
                    "ceil_div(out_depth * out_height, 8)",
                    "batch * out_channels",
                ),
                ("16", "8", ONE),
                *ARGUMENTS,
            ),
        )
    ),
)

TILED = Substrate(
    name="tiled",
    source="tiled.cu",
    plan=LaunchPlan(
        steps=(
            launch(
                "conv_transpose3d_tiled",
                (
                    "ceil_div(out_width, 16)",
                    "ceil_div(out_height, 4) * ceil_div(out_depth, 2)",
                    "batch * ceil_div(out_channels, 2)",
                ),
                ("16", "4", "2"),
                *ARGUMENTS,
            ),
        )
    ),
)

PROBLEM = problem(
    58,
    "58_conv_transposed_3D__asymmetric_input__asymmetric_kernel",
    OPERATION,
    batch=16,
    in_channels=in_channels(32),
    out_channels=out_channels(16, tile=2),
    substrates=(DIRECT, TILED),
    controls=OPERATION.controls(DIRECT),
)
