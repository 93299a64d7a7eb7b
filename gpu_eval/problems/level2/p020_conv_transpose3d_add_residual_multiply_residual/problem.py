"""KernelBench level 2, problem 20: a transposed convolution, a bias, and itself +, * and +."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    ConvTranspose,
    Keep,
    Residual,
    WithParameter,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer

PARITY_CLASSES = Substrate(
    name="parity-classes",
    source="parity_classes.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="deconv_classes_residual",
                grid=(
                    "ceil_div(depth * height * width, 64)",
                    "ceil_div(out_channels, 4)",
                    "batch * 8",
                ),
                block=("64", "1", "1"),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("sum_bias"),
                    pointer("y"),
                    int32("in_channels"),
                    int32("depth"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                ),
            ),
        )
    ),
)

PROBLEM = fused_problem(
    20,
    "20_ConvTranspose3d_Sum_ResidualAdd_Multiply_ResidualAdd",
    (
        ConvTranspose(3, 3, stride=2, padding=1, output_padding=1),
        Keep("original"),
        WithParameter("+", "sum_bias", ("out_channels", "1", "1", "1")),
        Residual("+", "original"),
        Residual("*", "original"),
        Residual("+", "original"),
    ),
    dimensions=(
        parallel("batch", 16),
        reduced("in_channels", 32, tile=16),
        parallel("depth", 16, tile=2, minimum=4),
        parallel("height", 32, tile=4, minimum=4),
        parallel("width", 32, tile=4, minimum=4),
        parallel("out_channels", 64, tile=4),
    ),
    x=("batch", "in_channels", "depth", "height", "width"),
    substrates=(PARITY_CLASSES,),
)
