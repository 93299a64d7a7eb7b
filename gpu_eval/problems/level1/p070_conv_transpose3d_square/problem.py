"""KernelBench level 1, problem 70: a 3 x 3 x 3 transposed convolution of large cubes."""

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
from gpu_eval.problems.plan import LaunchPlan, int64, pointer

INPUTS = "batch * in_channels * depth * height * width"
OUTPUTS = "batch * out_channels * out_depth * out_height * out_width"

# 8 outputs of 32 rows a block: (8 n + 2)^2 rows leave 4.
OPERATION = TransposedConvolution(
    tuple(Axis(name, 96, kernel=3, tile=8) for name in ("depth", "height", "width"))
)
TENSORS = (pointer("x"), pointer("weight"), pointer("y"))
SIZES = integers("in_channels depth height width out_channels out_depth out_height out_width")

PAIRS = Substrate(
    name="pairs",
    source="pairs.cu",
    plan=LaunchPlan(
        steps=(
            launch(
                "conv_transpose3d_pairs",
                (
                    "ceil_div(out_width, 8)",
                    "ceil_div(out_depth * out_height, 32)",
                    "batch * out_channels",
                ),
                ("4", "32", ONE),
                *TENSORS,
                *SIZES,
                shared="4 * in_channels * kernel_depth * kernel_height * kernel_width",
            ),
        )
    ),
)

ATOMICS = Substrate(
    name="atomics",
    source="atomics.cu",
    headers=("deconv_fill.cuh",),
    plan=LaunchPlan(
        steps=(
            launch(
                "deconv_fill",
                (f"ceil_div({OUTPUTS}, 1024)", ONE, ONE),
                ("256", ONE, ONE),
                pointer("y"),
                int64(OUTPUTS),
            ),
            launch(
                "conv_transpose3d_atomics",
                (f"ceil_div({INPUTS}, 128)", ONE, ONE),
                ("128", ONE, ONE),
                *TENSORS,
                *SIZES,
                *integers("kernel_depth"),
                int64(INPUTS),
            ),
        )
    ),
)

PROBLEM = problem(
    70,
    "70_conv_transposed_3D__asymmetric_input__square_kernel",
    OPERATION,
    batch=8,
    in_channels=in_channels(48),
    out_channels=out_channels(24),
    substrates=(PAIRS,),
    controls=OPERATION.controls(PAIRS, Control("atomics", "atomics", substrate=ATOMICS)),
)
