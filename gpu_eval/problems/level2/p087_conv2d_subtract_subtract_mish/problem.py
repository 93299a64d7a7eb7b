"""KernelBench level 2, problem 87: a 3 x 3 convolution, two numbers subtracted, then Mish."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Conv,
    fused_problem,
    mish,
    parallel,
    reduced,
    subtract,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, float32, int32, pointer

DOUBLE_BUFFER = Substrate(
    name="double-buffer",
    source="double_buffer.cu",
    headers=("conv_stage.cuh", "fused_activations.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv2d_subtract_mish",
                grid=(
                    "ceil_div(out_width, 16)",
                    "ceil_div(out_height, 16)",
                    "batch * ceil_div(out_channels, 2)",
                ),
                block=("8", "8", "1"),
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
                    float32("subtract_value_1"),
                    float32("subtract_value_2"),
                ),
            ),
        )
    ),
)

PROBLEM = fused_problem(
    87,
    "87_Conv2d_Subtract_Subtract_Mish",
    (Conv(2, 3), subtract(0.5), subtract(0.2), mish()),
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 8),
        parallel("height", 256, tile=16, minimum=3),
        parallel("width", 256, tile=16, minimum=3),
        parallel("out_channels", 64, tile=8),
    ),
    x=("batch", "in_channels", "height", "width"),
    scalars={"subtract_value_1": 0.5, "subtract_value_2": 0.2},
    substrates=(DOUBLE_BUFFER,),
)
