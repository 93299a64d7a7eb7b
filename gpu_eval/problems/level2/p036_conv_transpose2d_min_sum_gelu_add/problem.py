"""KernelBench level 2, problem 36: a transposed convolution, least channel, column sums, GELU."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    ConvTranspose,
    Reduce,
    WithParameter,
    fused_problem,
    gelu,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, int32, pointer

ONE = "1"

ROW_PAIRS = Substrate(
    name="row-pairs",
    source="row_pairs.cu",
    headers=("deconv_quad.cuh", "fused_activations.cuh", "limits.cuh", "pool_nan.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("smallest", "batch * out_height * out_width"),),
        steps=(
            Launch(
                kernel="deconv_channel_min",
                grid=("ceil_div(width, 16)", "height", "batch"),
                block=("16", "8", ONE),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("smallest"),
                    int32("in_channels"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                ),
                # Two input rows of 16 columns and one more, of every channel.
                shared="in_channels * 2 * 17 * 4",
            ),
            Launch(
                kernel="column_sum_gelu_add",
                grid=("ceil_div(out_width, 32)", "batch", ONE),
                block=("32", "4", ONE),
                arguments=(
                    pointer("smallest"),
                    pointer("last_bias"),
                    pointer("y"),
                    int32("out_height"),
                    int32("out_width"),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    36,
    "36_ConvTranspose2d_Min_Sum_GELU_Add",
    (
        ConvTranspose(2, 3, stride=2, padding=1, output_padding=1),
        Reduce("min", (1,)),
        Reduce("sum", (2,)),
        gelu(),
        WithParameter("+", "last_bias", ("1", "1", "1")),
    ),
    dimensions=(
        parallel("batch", 16),
        reduced("in_channels", 64),
        reduced("height", 128, tile=2, minimum=2),
        parallel("width", 128, tile=16, minimum=2),
        reduced("out_channels", 128, tile=8),
    ),
    x=("batch", "in_channels", "height", "width"),
    substrates=(ROW_PAIRS,),
)
