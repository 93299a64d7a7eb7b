"""KernelBench level 2, problem 96: a transposed convolution, scaled, max-pooled, averaged."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Clamp,
    ConvTranspose,
    Pool,
    Scale,
    fused_problem,
    global_average,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, float32, int32, pointer

BLOCK_A_CHANNEL = Substrate(
    name="block-a-channel",
    source="block_a_channel.cu",
    headers=(
        "deconv_octet.cuh",
        "fused_activations.cuh",
        "pool_nan.cuh",
        "tree_reduce.cuh",
    ),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="deconv_max_average_clamp",
                grid=("out_channels", "batch", "1"),
                block=("64", "1", "1"),
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
                    float32("scale"),
                    float32("clamp_min"),
                    float32("clamp_max"),
                ),
            ),
        )
    ),
)

PROBLEM = fused_problem(
    96,
    "96_ConvTranspose3d_Multiply_Max_GlobalAvgPool_Clamp",
    (
        ConvTranspose(3, 3, stride=2, padding=1),
        Scale(0.5),
        Pool("max", 3, 2),
        global_average(3),
        Clamp(0.0, 1.0),
    ),
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 3),
        reduced("depth", 16, tile=2, minimum=5),
        reduced("height", 32, tile=2, minimum=5),
        reduced("width", 32, tile=2, minimum=5),
        parallel("out_channels", 16),
    ),
    x=("batch", "in_channels", "depth", "height", "width"),
    scalars={"scale": 0.5, "clamp_min": 0.0, "clamp_max": 1.0},
    substrates=(BLOCK_A_CHANNEL,),
)
