"""KernelBench level 1, problem 57: a 3 x 3 transposed convolution of large square images."""

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

# Patches of 16 x 8 outputs, and 64 pixels of an image: (16 n + 2)^2 leaves 4 of them.
OPERATION = TransposedConvolution(
    (Axis("height", 1024, kernel=3, tile=16), Axis("width", 1024, kernel=3, tile=16))
)
TENSORS = (pointer("x"), pointer("weight"), pointer("y"))
SIZES = integers("in_channels height width out_channels out_height out_width")

TILED = Substrate(
    name="tiled",
    source="tiled.cu",
    plan=LaunchPlan(
        steps=(
            launch(
                "conv_transpose2d_tiled",
                (
                    "ceil_div(out_width, 16)",
                    "ceil_div(out_height, 8)",
                    "batch * ceil_div(out_channels, 4)",
                ),
                ("16", "8", ONE),
                *TENSORS,
                *SIZES,
            ),
        )
    ),
)

GATHER = Substrate(
    name="gather",
    source="gather.cu",
    plan=LaunchPlan(
        steps=(
            launch(
                "conv_transpose2d_gather",
                ("ceil_div(out_height * out_width, 64)", "ceil_div(out_channels, 2)", "batch"),
                ("64", "2", ONE),
                *TENSORS,
                *SIZES,
                *integers("kernel_height"),
            ),
        )
    ),
)

PROBLEM = problem(
    57,
    "57_conv_transposed_2D__square_input__square_kernel",
    OPERATION,
    batch=8,
    in_channels=in_channels(64, tile=4),
    out_channels=out_channels(64, tile=4),
    substrates=(TILED, GATHER),
    controls=OPERATION.controls(GATHER),
)
