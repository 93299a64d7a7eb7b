"""KernelBench level 1, problem 69: a 3 x 5 transposed convolution of oblong images."""

from gpu_eval.problems.blind.level1_069 import control as from_the_contract
from gpu_eval.problems.definition import Control, Substrate
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

# Tiles of 32 pixels of a whole image, (8 m + 2) x (16 n + 4) of which leave 8, and of 16 x 8.
OPERATION = TransposedConvolution(
    (Axis("height", 128, kernel=3, tile=8), Axis("width", 256, kernel=5, tile=16))
)
SIZES = integers("in_channels height width out_channels out_height out_width")
QUADS = "ceil_div(out_channels, 4)"
ROWS = "in_channels * kernel_height * kernel_width"

DOUBLE_BUFFERED = Substrate(
    name="double-buffered",
    source="double_buffered.cu",
    plan=LaunchPlan(
        steps=(
            launch(
                "conv_transpose2d_double_buffered",
                ("ceil_div(out_height * out_width, 32)", "ceil_div(out_channels, 8)", "batch"),
                ("128", ONE, ONE),
                pointer("x"),
                pointer("weight"),
                pointer("y"),
                *SIZES,
            ),
        )
    ),
)

MIRRORED = Substrate(
    name="mirrored",
    source="mirrored.cu",
    plan=LaunchPlan(
        workspaces=(Workspace("packed", f"{ROWS} * 4 * {QUADS}"),),
        steps=(
            launch(
                "mirror_weights",
                (ROWS, ONE, ONE),
                ("128", ONE, ONE),
                pointer("weight"),
                pointer("packed"),
                *integers("out_channels"),
                int32("kernel_height * kernel_width"),
                int32(f"4 * {QUADS}"),
            ),
            launch(
                "convolve_packed",
                ("ceil_div(out_width, 16)", "ceil_div(out_height, 8)", f"batch * {QUADS}"),
                ("16", "8", ONE),
                pointer("x"),
                pointer("packed"),
                pointer("y"),
                *SIZES,
                *integers("kernel_height kernel_width"),
                int32(QUADS),
            ),
        ),
    ),
)

PROBLEM = problem(
    69,
    "69_conv_transposed_2D__asymmetric_input__asymmetric_kernel",
    OPERATION,
    batch=64,
    in_channels=in_channels(64, tile=4),
    out_channels=out_channels(128, tile=8),
    substrates=(DOUBLE_BUFFERED, MIRRORED),
    controls=(
        *OPERATION.controls(MIRRORED),
        Control("from-the-contract", "blind", run=from_the_contract, blind=True),
    ),
)
