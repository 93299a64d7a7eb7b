"""KernelBench level 2, problem 7: a convolution, ReLU, LeakyReLU, GELU, a sigmoid, then a bias.

LeakyReLU after ReLU changes nothing but a NaN's way: its slope never meets a negative number.
"""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Conv,
    LeakyRelu,
    WithParameter,
    fused_problem,
    gelu,
    parallel,
    reduced,
    relu,
    sigmoid,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, float32, int32, pointer

LAYERS = Substrate(
    name="layers",
    source="layers.cu",
    headers=("conv_stage.cuh", "fused_activations.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv3d_activations_bias",
                grid=(
                    "ceil_div(out_width, 8)",
                    "ceil_div(out_height, 8)",
                    "batch * ceil_div(out_channels, 2) * ceil_div(out_depth, 4)",
                ),
                block=("8", "8", "1"),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("channel_bias"),
                    pointer("y"),
                    int32("in_channels"),
                    int32("depth"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                    int32("out_depth"),
                    int32("out_height"),
                    int32("out_width"),
                    float32("negative_slope"),
                ),
            ),
        )
    ),
)

PROBLEM = fused_problem(
    7,
    "7_Conv3d_ReLU_LeakyReLU_GELU_Sigmoid_BiasAdd",
    (
        Conv(3, 3),
        relu(),
        LeakyRelu(0.01),
        gelu(),
        sigmoid(),
        WithParameter("+", "channel_bias", ("out_channels", "1", "1", "1")),
    ),
    # 30 output layers leave two of the last four; 62 rows and columns six of the last eight.
    dimensions=(
        parallel("batch", 64),
        reduced("in_channels", 8),
        parallel("depth", 32, tile=4, minimum=3),
        parallel("height", 64, tile=8, minimum=3),
        parallel("width", 64, tile=8, minimum=3),
        parallel("out_channels", 32, tile=2),
    ),
    x=("batch", "in_channels", "depth", "height", "width"),
    scalars={"negative_slope": 0.01},
    substrates=(LAYERS,),
)
