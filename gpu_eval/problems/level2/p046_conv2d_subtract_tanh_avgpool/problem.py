"""KernelBench level 2, problem 46: a convolution, tanh between two shifts, means of windows."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Conv,
    Pool,
    fused_problem,
    parallel,
    reduced,
    subtract,
    tanh,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, float32, int32, pointer

POOL_IN_SHARED = Substrate(
    name="pool-in-shared",
    source="pool_in_shared.cu",
    headers=("conv_stage.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv2d_tanh_average",
                grid=(
                    "ceil_div(pool_width, 8)",
                    "ceil_div(pool_height, 4)",
                    "batch * ceil_div(out_channels, 2)",
                ),
                block=("16", "8", "1"),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("y"),
                    int32("in_channels"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                    int32("pool_height"),
                    int32("pool_width"),
                    float32("subtract1_value"),
                    float32("subtract2_value"),
                ),
            ),
        )
    ),
)

PROBLEM = fused_problem(
    46,
    "46_Conv2d_Subtract_Tanh_Subtract_AvgPool",
    (Conv(2, 3), subtract(0.5), tanh(), subtract(0.2), Pool("mean", 2, 2)),
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 64),
        parallel("height", 128, tile=8, minimum=4),
        parallel("width", 128, tile=16, minimum=4),
        parallel("out_channels", 128, tile=4, minimum=2),
    ),
    x=("batch", "in_channels", "height", "width"),
    scalars={"subtract1_value": 0.5, "subtract2_value": 0.2},
    substrates=(POOL_IN_SHARED,),
)
