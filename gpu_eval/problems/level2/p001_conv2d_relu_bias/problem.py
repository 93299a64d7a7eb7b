"""KernelBench level 2, problem 1: a 3 x 3 convolution, ReLU, then a bias of its own."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Conv,
    WithParameter,
    fused_problem,
    parallel,
    reduced,
    relu,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer

DIRECT = Substrate(
    name="direct",
    source="direct.cu",
    headers=("conv_stage.cuh", "fused_activations.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv2d_relu_bias",
                grid=(
                    "ceil_div(out_width, 16)",
                    "ceil_div(out_height, 8)",
                    "batch * ceil_div(out_channels, 4)",
                ),
                block=("16", "8", "1"),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("channel_bias"),
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
    1,
    "1_Conv2D_ReLU_BiasAdd",
    (Conv(2, 3), relu(), WithParameter("+", "channel_bias", ("out_channels", "1", "1"))),
    # 126 outputs an axis leave tails of 6 rows and 14 columns in tiles of 8 x 16.
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 64),
        parallel("height", 128, tile=8, minimum=3),
        parallel("width", 128, tile=16, minimum=3),
        parallel("out_channels", 128, tile=4),
    ),
    x=("batch", "in_channels", "height", "width"),
    substrates=(DIRECT,),
)
