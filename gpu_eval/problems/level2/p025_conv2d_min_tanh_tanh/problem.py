"""KernelBench level 2, problem 25: a convolution, the smallest of its channels, tanh twice."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Conv,
    Reduce,
    fused_problem,
    parallel,
    reduced,
    tanh,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer

CHANNELS_IN_TURN = Substrate(
    name="channels-in-turn",
    source="channels_in_turn.cu",
    headers=("limits.cuh", "pool_nan.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv2d_min_tanh_tanh",
                grid=("ceil_div(out_width, 16)", "ceil_div(out_height, 8)", "batch"),
                block=("16", "8", "1"),
                # Windows of 10 x 18 floats.
                shared="in_channels * 10 * 18 * 4",
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
                ),
            ),
        )
    ),
)

PROBLEM = fused_problem(
    25,
    "25_Conv2d_Min_Tanh_Tanh",
    (Conv(2, 3), Reduce("min"), tanh(), tanh()),
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 16),
        parallel("height", 256, tile=8, minimum=3),
        parallel("width", 256, tile=16, minimum=3),
        reduced("out_channels", 64, tile=8),
    ),
    x=("batch", "in_channels", "height", "width"),
    substrates=(CHANNELS_IN_TURN,),
)
