"""KernelBench level 2, problem 24: a convolution, the minimum along depth, softmax of channels."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Conv,
    Reduce,
    Softmax,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer

MARCHING = Substrate(
    name="marching",
    source="marching.cu",
    headers=("limits.cuh", "pool_nan.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv3d_min_softmax",
                grid=("ceil_div(out_height * out_width, 16)", "batch", "1"),
                block=("16", "8", "1"),
                shared="out_channels * 16 * 4",
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("y"),
                    int32("in_channels"),
                    int32("depth"),
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
    24,
    "24_Conv3d_Min_Softmax",
    (Conv(3, 3), Reduce("min", (2,), keep=False), Softmax((1,))),
    # Extents of a multiple of 4 leave four of the last 16 columns, as 30 x 30 do, or twelve.
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 3),
        reduced("depth", 24, minimum=5),
        parallel("height", 32, tile=4, minimum=3),
        parallel("width", 32, tile=4, minimum=3),
        reduced("out_channels", 24),
    ),
    x=("batch", "in_channels", "depth", "height", "width"),
    substrates=(MARCHING,),
)
