"""KernelBench level 2, problem 8: a convolution, a divisor, pooled to a number a channel, summed.

Max-pooling by two and the average of all windows, then a bias a channel and the sum of channels.
"""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Conv,
    Pool,
    Reduce,
    WithParameter,
    divide,
    fused_problem,
    global_average,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

WINDOWS = "pool_depth * pool_height * pool_width"
PARTS = f"min(ceil_div({WINDOWS}, 64), 2)"

WINDOWS_IN_REGISTERS = Substrate(
    name="windows",
    source="windows.cu",
    headers=(
        "conv3d_octet.cuh",
        "limits.cuh",
        "pool_nan.cuh",
        "warp_reduce.cuh",
        "block_reduce.cuh",
    ),
    plan=LaunchPlan(
        workspaces=(Workspace("partial", f"batch * out_channels * {PARTS}"),),
        steps=(
            Launch(
                kernel="conv3d_divide_max",
                grid=(PARTS, "ceil_div(out_channels, 2)", "batch"),
                block=("64", "1", "1"),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("partial"),
                    int32("in_channels"),
                    int32("depth"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                    int32("pool_depth"),
                    int32("pool_height"),
                    int32("pool_width"),
                    float32("divisor"),
                ),
            ),
            Launch(
                kernel="average_add_sum",
                grid=("ceil_div(batch, 4)", "1", "1"),
                block=("32", "4", "1"),
                arguments=(
                    pointer("partial"),
                    pointer("channel_bias"),
                    pointer("y"),
                    int32("batch"),
                    int32("out_channels"),
                    int32(PARTS),
                    int32(WINDOWS),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    8,
    "8_Conv3d_Divide_Max_GlobalAvgPool_BiasAdd_Sum",
    (
        Conv(3, 3),
        divide(2.0),
        Pool("max", 3, 2),
        global_average(3),
        WithParameter("+", "channel_bias", ("out_channels", "1", "1", "1")),
        Reduce("sum", (1,), keep=False),
    ),
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 8),
        reduced("depth", 16, tile=2, minimum=4),
        reduced("height", 64, tile=2, minimum=4),
        reduced("width", 64, tile=2, minimum=4),
        reduced("out_channels", 16, tile=2),
    ),
    x=("batch", "in_channels", "depth", "height", "width"),
    scalars={"divisor": 2.0},
    substrates=(WINDOWS_IN_REGISTERS,),
)
