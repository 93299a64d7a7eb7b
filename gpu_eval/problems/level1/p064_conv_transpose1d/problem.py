"""KernelBench level 1, problem 64: a transposed convolution of long signals, three taps."""

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

# Blocks of 128 and of 64 outputs.
OPERATION = TransposedConvolution((Axis("length", 65536, kernel=3, tile=128),))
ARGUMENTS = (
    pointer("x"),
    pointer("weight"),
    pointer("y"),
    *integers("in_channels length out_channels out_length"),
)

WINDOW = Substrate(
    name="window",
    source="window.cu",
    plan=LaunchPlan(
        steps=(
            launch(
                "conv_transpose1d_window",
                ("ceil_div(out_length, 128)", "ceil_div(out_channels, 4)", "batch"),
                ("32", "4", ONE),
                *ARGUMENTS,
            ),
        )
    ),
)

BLOCKED_GEMM = Substrate(
    name="blocked-gemm",
    source="blocked_gemm.cu",
    plan=LaunchPlan(
        steps=(
            launch(
                "conv_transpose1d_blocked_gemm",
                ("ceil_div(out_length, 64)", "ceil_div(out_channels, 8)", "batch"),
                ("128", ONE, ONE),
                *ARGUMENTS,
            ),
        )
    ),
)

PROBLEM = problem(
    64,
    "64_conv_transposed_1D",
    OPERATION,
    batch=64,
    in_channels=in_channels(128, tile=8),
    out_channels=out_channels(128, tile=8),
    substrates=(WINDOW, BLOCKED_GEMM),
    controls=OPERATION.controls(WINDOW),
)
