"""KernelBench level 2, problem 54: a convolution, a factor a channel, LeakyReLU, GELU."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Conv,
    LeakyRelu,
    WithParameter,
    fused_problem,
    gelu,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, int64, pointer

OUTPUTS = "batch * out_channels * out_height * out_width"
SIZES = (
    int32("in_channels"),
    int32("height"),
    int32("width"),
    int32("out_channels"),
    int32("out_height"),
    int32("out_width"),
)

WARP_CHANNELS = Substrate(
    name="warp-channels",
    source="warp_channels.cu",
    headers=("fused_activations.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv2d_scale_leaky_gelu",
                grid=(
                    "ceil_div(out_height * out_width, 32)",
                    "ceil_div(out_channels, 16)",
                    "batch",
                ),
                block=("32", "4", "1"),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("multiplier"),
                    pointer("y"),
                    *SIZES,
                    float32("negative_slope"),
                ),
            ),
        )
    ),
)

SPLIT_CHANNELS = Substrate(
    name="split-channels",
    source="split_channels.cu",
    headers=("fused_activations.cuh",),
    plan=LaunchPlan(
        workspaces=(Workspace("partial", f"4 * {OUTPUTS}"),),
        steps=(
            Launch(
                kernel="conv2d_share",
                grid=(
                    "ceil_div(out_width, 16)",
                    "ceil_div(out_height, 8)",
                    "4 * batch * out_channels",
                ),
                block=("16", "8", "1"),
                shared="ceil_div(in_channels, 4) * 9 * 4",
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("partial"),
                    int32("batch"),
                    *SIZES,
                ),
            ),
            Launch(
                kernel="combine_scale_leaky_gelu",
                grid=(f"ceil_div({OUTPUTS}, 128)", "1", "1"),
                block=("128", "1", "1"),
                arguments=(
                    pointer("partial"),
                    pointer("bias"),
                    pointer("multiplier"),
                    pointer("y"),
                    int64(OUTPUTS),
                    int32("out_channels"),
                    int32("out_height * out_width"),
                    float32("negative_slope"),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    54,
    "54_Conv2d_Multiply_LeakyReLU_GELU",
    (
        Conv(2, 3),
        WithParameter("*", "multiplier", ("out_channels", "1", "1")),
        LeakyRelu(0.01),
        gelu(),
    ),
    dimensions=(
        parallel("batch", 64),
        reduced("in_channels", 64, tile=4),
        parallel("height", 256, tile=8, minimum=3),
        parallel("width", 256, tile=16, minimum=3),
        parallel("out_channels", 64, tile=16, minimum=2),
    ),
    x=("batch", "in_channels", "height", "width"),
    scalars={"negative_slope": 0.01},
    substrates=(WARP_CHANNELS, SPLIT_CHANNELS),
)
