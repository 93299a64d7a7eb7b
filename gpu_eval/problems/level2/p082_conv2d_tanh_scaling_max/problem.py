"""KernelBench level 2, problem 82: a convolution, tanh, a factor, a bias, max-pooling."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Conv,
    Pool,
    Scale,
    WithParameter,
    fused_problem,
    parallel,
    reduced,
    tanh,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, float32, int32, pointer

POOL_IN_REGISTERS = Substrate(
    name="pool-in-registers",
    source="pool_in_registers.cu",
    headers=("limits.cuh", "pool_nan.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv2d_tanh_max",
                grid=(
                    "ceil_div(pool_height * pool_width, 32)",
                    "ceil_div(out_channels, 4)",
                    "batch",
                ),
                block=("32", "4", "1"),
                shared="4 * in_channels * 9 * 4",
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("channel_bias"),
                    pointer("y"),
                    int32("in_channels"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                    int32("pool_height"),
                    int32("pool_width"),
                    float32("scaling_factor"),
                ),
            ),
        )
    ),
)

PROBLEM = fused_problem(
    82,
    "82_Conv2d_Tanh_Scaling_BiasAdd_Max",
    (
        Conv(2, 3),
        tanh(),
        Scale(2.0),
        WithParameter("+", "channel_bias", ("out_channels", "1", "1")),
        Pool("max", 2, 4),
    ),
    # 254 outputs an axis: pooling leaves two of them out, as at every multiple of 8.
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 8),
        parallel("height", 256, tile=8, minimum=6),
        parallel("width", 256, tile=8, minimum=6),
        parallel("out_channels", 64, tile=4),
    ),
    x=("batch", "in_channels", "height", "width"),
    scalars={"scaling_factor": 2.0},
    substrates=(POOL_IN_REGISTERS,),
)
