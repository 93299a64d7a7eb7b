"""KernelBench level 2, problem 6: a convolution, softmax of the channels, max-pooling twice."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Conv,
    Pool,
    Softmax,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer

SHUFFLES = Substrate(
    name="shuffles",
    source="shuffles.cu",
    headers=("limits.cuh", "pool_nan.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv3d_softmax_pool",
                grid=("last_depth * last_height * last_width", "batch", "1"),
                block=("64", "1", "1"),
                # 64 voxels and two warps a channel.
                shared="out_channels * 66 * 4",
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
                    int32("last_depth"),
                    int32("last_height"),
                    int32("last_width"),
                ),
            ),
        )
    ),
)

PROBLEM = fused_problem(
    6,
    "6_Conv3d_Softmax_MaxPool_MaxPool",
    (Conv(3, 3), Softmax((1,)), Pool("max", 3, 2), Pool("max", 3, 2, prefix="last")),
    # 14 or 30 outputs an axis: the last two are in no window of the second pooling.
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 3),
        parallel("depth", 16, tile=4, minimum=6),
        parallel("height", 32, tile=4, minimum=6),
        parallel("width", 32, tile=4, minimum=6),
        reduced("out_channels", 16, tile=4),
    ),
    x=("batch", "in_channels", "depth", "height", "width"),
    substrates=(SHUFFLES,),
)
