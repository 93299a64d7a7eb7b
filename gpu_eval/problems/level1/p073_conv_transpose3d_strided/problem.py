"""KernelBench level 1, problem 73: a 3 x 3 x 3 transposed convolution with stride 2, padding 1.

The name says grouped, and it is not: the benchmark passes its 4 groups where the model takes the
output padding, which the model then does not use.
"""

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
from gpu_eval.problems.plan import LaunchPlan, int64, pointer

OUTPUTS = "batch * out_channels * out_depth * out_height * out_width"

# Blocks of 2 x 4 x 16 inputs, each of them with 2 x 2 x 2 outputs, and of 128 input voxels.
OPERATION = TransposedConvolution(
    (
        Axis("depth", 32, kernel=3, stride=2, padding=1, tile=2),
        Axis("height", 64, kernel=3, stride=2, padding=1, tile=4),
        Axis("width", 128, kernel=3, stride=2, padding=1, tile=16),
    )
)
TENSORS = (pointer("x"), pointer("weight"), pointer("y"))
SIZES = integers("in_channels depth height width out_channels")

OCTETS = Substrate(
    name="octets",
    source="octets.cu",
    plan=LaunchPlan(
        steps=(
            launch(
                "conv_transpose3d_octets",
                (
                    "ceil_div(width, 16)",
                    "ceil_div(height, 4)",
                    "batch * out_channels * ceil_div(depth, 2)",
                ),
                ("16", "4", "2"),
                *TENSORS,
                *SIZES,
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
                (f"ceil_div({OUTPUTS}, 256)", ONE, ONE),
                ("256", ONE, ONE),
                pointer("y"),
                int64(OUTPUTS),
            ),
            launch(
                "conv_transpose3d_scatter",
                ("ceil_div(depth * height * width, 128)", "out_channels", "batch"),
                ("128", ONE, ONE),
                *TENSORS,
                *SIZES,
                *integers("out_depth out_height out_width"),
                *integers("kernel_depth stride_depth padding_depth"),
                shared="4 * in_channels * kernel_depth * kernel_height * kernel_width",
            ),
        )
    ),
)

PROBLEM = problem(
    73,
    "73_conv_transposed_3D_asymmetric_input_square_kernel__strided_padded__grouped",
    OPERATION,
    batch=4,
    in_channels=in_channels(32),
    out_channels=out_channels(32),
    substrates=(OCTETS, SCATTER),
    controls=OPERATION.controls(OCTETS),
)
