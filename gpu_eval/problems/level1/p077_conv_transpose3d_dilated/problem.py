"""KernelBench level 1, problem 77: a 3 x 3 x 3 transposed convolution, stride 2 and dilation 2.

As stride and dilation are equal, seven of eight outputs are zero.
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
from gpu_eval.problems.plan import LaunchPlan, pointer

# Blocks of 2 x 8 x 8 outputs, of which 2 n + 1 leave 1, and of 32 lines of 4 cells.
OPERATION = TransposedConvolution(
    tuple(
        Axis(name, size, kernel=3, stride=2, padding=1, dilation=2, tile=tile)
        for name, size, tile in (("depth", 16, 1), ("height", 32, 4), ("width", 32, 4))
    )
)
TENSORS = (pointer("x"), pointer("weight"), pointer("y"))
SIZES = integers("in_channels depth height width out_channels")

GATHER = Substrate(
    name="gather",
    source="gather.cu",
    headers=("deconv_source.cuh",),
    plan=LaunchPlan(
        steps=(
            launch(
                "conv_transpose3d_dilated_gather",
                (
                    "ceil_div(out_width, 8)",
                    "ceil_div(out_height, 8)",
                    "batch * out_channels * ceil_div(out_depth, 2)",
                ),
                ("8", "8", "2"),
                *TENSORS,
                *SIZES,
                *integers("out_depth out_height out_width"),
                *integers("stride_depth padding_depth dilation_depth"),
                shared="4 * in_channels * kernel_depth * kernel_height * kernel_width",
            ),
        )
    ),
)

LATTICE = Substrate(
    name="lattice",
    source="lattice.cu",
    plan=LaunchPlan(
        steps=(
            launch(
                "conv_transpose3d_lattice",
                (
                    "ceil_div(width + 1, 4)",
                    "ceil_div((depth + 1) * (height + 1), 32)",
                    "batch * out_channels",
                ),
                ("4", "32", ONE),
                *TENSORS,
                *SIZES,
            ),
        )
    ),
)

PROBLEM = problem(
    77,
    "77_conv_transposed_3D_square_input_square_kernel___padded____dilated____strided__",
    OPERATION,
    batch=16,
    in_channels=in_channels(32),
    out_channels=out_channels(64),
    substrates=(GATHER, LATTICE),
    controls=OPERATION.controls(GATHER),
)
