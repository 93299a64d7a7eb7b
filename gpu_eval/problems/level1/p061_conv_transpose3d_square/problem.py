"""KernelBench level 1, problem 61: a 3 x 3 x 3 transposed convolution of cubes."""

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

# Multiples of 8 keep the tail of 8 outputs in tiles of 32 voxels (any (8 n + 2)^3 leaves 8), and
# the tail of 2 rows and columns.
OPERATION = TransposedConvolution(
    tuple(Axis(name, 64, kernel=3, tile=8) for name in ("depth", "height", "width"))
)
ARGUMENTS = (
    pointer("x"),
    pointer("weight"),
    pointer("y"),
    *integers("in_channels depth height width out_channels out_depth out_height out_width"),
)

IMPLICIT_GEMM = Substrate(
    name="implicit-gemm",
    source="implicit_gemm.cu",
    plan=LaunchPlan(
        steps=(
            launch(
                "conv_transpose3d_implicit_gemm",
                (
                    "ceil_div(out_depth * out_height * out_width, 32)",
                    "ceil_div(out_channels, 4)",
                    "batch",
                ),
                ("128", ONE, ONE),
                *ARGUMENTS,
            ),
        )
    ),
)

MARCHING = Substrate(
    name="marching",
    source="marching.cu",
    plan=LaunchPlan(
        steps=(
            launch(
                "conv_transpose3d_marching",
                (
                    "ceil_div(out_width, 8)",
                    "ceil_div(out_height, 8)",
                    "batch * ceil_div(out_channels, 2)",
                ),
                ("8", "8", "2"),
                *ARGUMENTS,
            ),
        )
    ),
)

PROBLEM = problem(
    61,
    "61_conv_transposed_3D__square_input__square_kernel",
    OPERATION,
    batch=8,
    in_channels=in_channels(48),
    out_channels=out_channels(48, tile=4),
    substrates=(IMPLICIT_GEMM, MARCHING),
    controls=OPERATION.controls(IMPLICIT_GEMM),
)
