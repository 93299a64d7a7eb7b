"""KernelBench level 2, problem 35: a convolution, a shift, hard swish, max-pooling, Mish."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Conv,
    Pool,
    fused_problem,
    hardswish,
    mish,
    parallel,
    reduced,
    subtract,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, int64, pointer

POOLED = "batch * out_channels * pool_height * pool_width"
INPUT = (int32("in_channels"), int32("height"), int32("width"))

WINOGRAD = Substrate(
    name="winograd-pooled",
    source="winograd.cu",
    headers=("conv_winograd.cuh", "fused_activations.cuh", "limits.cuh", "pool_nan.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("transformed", "out_channels * in_channels * 16"),),
        steps=(
            Launch(
                kernel="transform_filters",
                grid=("ceil_div(out_channels * in_channels, 64)", "1", "1"),
                block=("64", "1", "1"),
                arguments=(
                    pointer("weight"),
                    pointer("transformed"),
                    int32("out_channels * in_channels"),
                ),
            ),
            Launch(
                kernel="winograd_hardswish_max_mish",
                grid=(
                    "ceil_div(pool_width, 8)",
                    "ceil_div(pool_height, 8)",
                    "batch * ceil_div(out_channels, 2)",
                ),
                block=("8", "8", "1"),
                arguments=(
                    pointer("x"),
                    pointer("transformed"),
                    pointer("bias"),
                    pointer("y"),
                    *INPUT,
                    int32("out_channels"),
                    int32("pool_height"),
                    int32("pool_width"),
                    float32("subtract_value"),
                ),
            ),
        ),
    ),
)

TWO_LAUNCHES = Substrate(
    name="two-launches",
    source="two_launches.cu",
    headers=("fused_activations.cuh", "limits.cuh", "pool_nan.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("hidden", "batch * out_channels * out_height * out_width"),),
        steps=(
            Launch(
                kernel="conv2d_hardswish",
                grid=(
                    "ceil_div(out_width, 16)",
                    "ceil_div(out_height, 8)",
                    "batch * out_channels",
                ),
                block=("16", "8", "1"),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("hidden"),
                    *INPUT,
                    int32("out_channels"),
                    int32("out_height"),
                    int32("out_width"),
                    float32("subtract_value"),
                ),
            ),
            Launch(
                kernel="max_pool_mish",
                grid=(f"ceil_div({POOLED}, 128)", "1", "1"),
                block=("128", "1", "1"),
                arguments=(
                    pointer("hidden"),
                    pointer("y"),
                    int64(POOLED),
                    int32("out_height"),
                    int32("out_width"),
                    int32("pool_height"),
                    int32("pool_width"),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    35,
    "35_Conv2d_Subtract_HardSwish_MaxPool_Mish",
    (Conv(2, 3), subtract(0.5), hardswish(), Pool("max", 2, 2), mish()),
    # 63 windows an axis in tiles of 8.
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 64, tile=4),
        parallel("height", 128, tile=16, minimum=4),
        parallel("width", 128, tile=16, minimum=4),
        parallel("out_channels", 128, tile=4, minimum=2),
    ),
    x=("batch", "in_channels", "height", "width"),
    scalars={"subtract_value": 0.5},
    substrates=(WINOGRAD, TWO_LAUNCHES),
)
