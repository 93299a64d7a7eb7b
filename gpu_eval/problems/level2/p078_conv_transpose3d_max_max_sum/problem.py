"""KernelBench level 2, problem 78: a transposed convolution, max-pooling twice, a channel sum."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    ConvTranspose,
    Pool,
    Reduce,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, int32, pointer

ONE = "1"
POOLED = "pool_depth * pool_height * pool_width"
OUTPUTS = "last_depth * last_height * last_width"

POOLED_WHILE_MADE = Substrate(
    name="pooled-while-made",
    source="pooled_while_made.cu",
    headers=("deconv_source.cuh", "limits.cuh", "pool_nan.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("pooled", f"batch * out_channels * {POOLED}"),),
        steps=(
            Launch(
                kernel="conv_transpose3d_pool2",
                grid=(f"ceil_div({POOLED}, 64)", "out_channels", "batch"),
                block=("64", ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("pooled"),
                    int32("in_channels"),
                    int32("depth"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                    int32("pool_depth"),
                    int32("pool_height"),
                    int32("pool_width"),
                ),
            ),
            Launch(
                kernel="pool3_channel_sum",
                grid=(f"ceil_div({OUTPUTS}, 32)", "batch", ONE),
                block=("32", "4", ONE),
                arguments=(
                    pointer("pooled"),
                    pointer("y"),
                    int32("out_channels"),
                    int32("pool_depth"),
                    int32("pool_height"),
                    int32("pool_width"),
                    int32("last_depth"),
                    int32("last_height"),
                    int32("last_width"),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    78,
    "78_ConvTranspose3d_Max_Max_Sum",
    (
        ConvTranspose(3, 5, stride=2, padding=2),
        Pool("max", 3, 2),
        Pool("max", 3, 3, prefix="last"),
        Reduce("sum", (1,)),
    ),
    # 2 n - 1 outputs an axis, n - 1 after the first pooling: steps of 3 keep the second one's tail.
    dimensions=(
        parallel("batch", 16),
        reduced("in_channels", 32),
        parallel("depth", 32, tile=3, minimum=4),
        parallel("height", 32, tile=3, minimum=4),
        parallel("width", 32, tile=3, minimum=4),
        reduced("out_channels", 64, tile=4),
    ),
    x=("batch", "in_channels", "depth", "height", "width"),
    substrates=(POOLED_WHILE_MADE,),
)
