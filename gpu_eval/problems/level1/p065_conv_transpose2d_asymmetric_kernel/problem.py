"""KernelBench level 1, problem 65: a 3 x 7 transposed convolution of square images."""

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
from gpu_eval.problems.plan import LaunchPlan, int32, int64, pointer

CHUNK = 4
PART = 8
OUTPUTS = "batch * out_channels * out_height * out_width"

# Blocks of 2 x 16 outputs, and of 128 input pixels of an image.
OPERATION = TransposedConvolution(
    (Axis("height", 512, kernel=3, tile=16), Axis("width", 512, kernel=7, tile=16))
)
TENSORS = (pointer("x"), pointer("weight"), pointer("y"))

ROWS = Substrate(
    name="rows",
    source="rows.cu",
    plan=LaunchPlan(
        steps=(
            launch(
                "conv_transpose2d_rows",
                (
                    "ceil_div(out_width, 16)",
                    "ceil_div(out_height, 2)",
                    "batch * ceil_div(out_channels, 4)",
                ),
                ("16", "2", "4"),
                *TENSORS,
                *integers("in_channels height width out_channels out_height out_width"),
                int32(f"{CHUNK}"),
                shared=f"4 * {CHUNK} * (4 * (16 + kernel_width - 1) + 4 * 3 * kernel_width)",
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
                (f"min(ceil_div({OUTPUTS}, 256), 1024)", ONE, ONE),
                ("256", ONE, ONE),
                pointer("y"),
                int64(OUTPUTS),
            ),
            launch(
                "conv_transpose2d_scatter",
                (
                    "ceil_div(height * width, 128)",
                    "out_channels",
                    f"batch * ceil_div(in_channels, {PART})",
                ),
                ("128", ONE, ONE),
                *TENSORS,
                *integers("in_channels height width out_channels kernel_height kernel_width"),
                int32(f"{PART}"),
            ),
        )
    ),
)

PROBLEM = problem(
    65,
    "65_conv_transposed_2D__square_input__asymmetric_kernel",
    OPERATION,
    batch=8,
    in_channels=in_channels(64, tile=8),
    out_channels=out_channels(64, tile=4),
    substrates=(ROWS, SCATTER),
    controls=OPERATION.controls(ROWS),
)
