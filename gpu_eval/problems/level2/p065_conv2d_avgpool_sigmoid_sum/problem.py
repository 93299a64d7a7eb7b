"""KernelBench level 2, problem 65: a convolution, average pooling, sigmoid, a sum an image."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Conv,
    Pool,
    Reduce,
    fused_problem,
    parallel,
    reduced,
    sigmoid,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, int32, pointer

BLOCKS = "ceil_div(pool_height * pool_width, 64)"
GROUPS = "ceil_div(out_channels, 8)"

BOX_SUMS = Substrate(
    name="box-sums",
    source="box_sums.cu",
    headers=("warp_reduce.cuh", "block_reduce.cuh", "fused_activations.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("partial", f"batch * {GROUPS} * {BLOCKS}"),),
        steps=(
            Launch(
                kernel="conv2d_average_sigmoid",
                grid=(BLOCKS, GROUPS, "batch"),
                block=("64", "1", "1"),
                shared="8 * in_channels * 9 * 4",
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("partial"),
                    int32("in_channels"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                    int32("pool_height"),
                    int32("pool_width"),
                ),
            ),
            Launch(
                kernel="add_partials",
                grid=("batch", "1", "1"),
                block=("64", "1", "1"),
                arguments=(pointer("partial"), pointer("y"), int32(f"{GROUPS} * {BLOCKS}")),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    65,
    "65_Conv2d_AvgPool_Sigmoid_Sum",
    (Conv(2, 3), Pool("mean", 2, 4), sigmoid(), Reduce("sum", (1, 2, 3), keep=False)),
    # 382 outputs an axis are 95 windows and two outputs that no window has.
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 8),
        reduced("height", 384, tile=8, minimum=6),
        reduced("width", 384, tile=8, minimum=6),
        reduced("out_channels", 64, tile=8),
    ),
    x=("batch", "in_channels", "height", "width"),
    substrates=(BOX_SUMS,),
)
