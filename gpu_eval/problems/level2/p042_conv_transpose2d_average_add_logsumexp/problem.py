"""KernelBench level 2, problem 42: means of a transposed convolution, a bias, logsumexp."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    ConvTranspose,
    Reduce,
    Scale,
    WithParameter,
    fused_problem,
    global_average,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

ONE = "1"

DIRECT = Substrate(
    name="direct",
    source="direct.cu",
    headers=("block_reduce.cuh", "limits.cuh", "warp_reduce.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("means", "batch * out_channels"),),
        steps=(
            Launch(
                kernel="deconv_plane_mean",
                grid=("out_channels", "batch", ONE),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("means"),
                    int32("in_channels"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                    int32("out_height"),
                    int32("out_width"),
                ),
            ),
            Launch(
                kernel="add_logsumexp",
                grid=("batch", ONE, ONE),
                block=("32", ONE, ONE),
                arguments=(
                    pointer("means"),
                    pointer("mean_bias"),
                    pointer("y"),
                    int32("out_channels"),
                    float32("factor"),
                ),
            ),
        ),
    ),
)

FOLDED_MEAN = Substrate(
    name="folded-mean",
    source="folded_mean.cu",
    headers=("limits.cuh", "tree_reduce.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("sums", "batch * in_channels"),),
        steps=(
            Launch(
                kernel="plane_sums",
                grid=("batch * in_channels", ONE, ONE),
                block=("256", ONE, ONE),
                arguments=(pointer("x"), pointer("sums"), int32("height * width")),
            ),
            Launch(
                kernel="mean_add_logsumexp",
                grid=("batch", ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("sums"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("mean_bias"),
                    pointer("y"),
                    int32("in_channels"),
                    int32("out_channels"),
                    int32("out_height * out_width"),
                    float32("factor"),
                ),
                shared="out_channels * 4",
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    42,
    "42_ConvTranspose2d_GlobalAvgPool_BiasAdd_LogSumExp_Sum_Multiply",
    (
        ConvTranspose(2, 3),
        global_average(2),
        WithParameter("+", "mean_bias", ("out_channels", "1", "1")),
        Reduce("logsumexp", (1,)),
        Reduce("sum", (2, 3), keep=False),
        Scale(10.0),
    ),
    dimensions=(
        parallel("batch", 16),
        reduced("in_channels", 64),
        reduced("height", 512, tile=4, minimum=2),
        reduced("width", 512, tile=4, minimum=2),
        reduced("out_channels", 128, tile=8),
    ),
    x=("batch", "in_channels", "height", "width"),
    scalars={"factor": 10.0},
    substrates=(DIRECT, FOLDED_MEAN),
)
