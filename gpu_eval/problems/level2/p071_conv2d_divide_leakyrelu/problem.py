"""KernelBench level 2, problem 71: a 3 x 3 convolution, divided by a number, then LeakyReLU."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Conv,
    LeakyRelu,
    divide,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, float32, int32, pointer

VECTOR_ROWS = Substrate(
    name="vector-rows",
    source="vector_rows.cu",
    headers=("conv_vector.cuh", "fused_activations.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv2d_divide_leaky",
                grid=(
                    "ceil_div(out_width, 16)",
                    "ceil_div(out_height, 16)",
                    "batch * ceil_div(out_channels, 4)",
                ),
                block=("4", "16", "1"),
                shared="4 * in_channels * 9 * 4",
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("y"),
                    int32("in_channels"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                    int32("out_height"),
                    int32("out_width"),
                    float32("divisor"),
                    float32("negative_slope"),
                ),
            ),
        )
    ),
)

PROBLEM = fused_problem(
    71,
    "71_Conv2d_Divide_LeakyReLU",
    (Conv(2, 3), divide(2.0), LeakyRelu(0.01)),
    # Rows of the input are a multiple of 4 floats long, those of the output are not.
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 8),
        parallel("height", 128, tile=16, minimum=3),
        parallel("width", 128, tile=16, minimum=3),
        parallel("out_channels", 64, tile=4),
    ),
    x=("batch", "in_channels", "height", "width"),
    scalars={"divisor": 2.0, "negative_slope": 0.01},
    substrates=(VECTOR_ROWS,),
)
