"""KernelBench level 2, problem 74: a transposed convolution, LeakyReLU, scaled, again, max-pool."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    ConvTranspose,
    LeakyRelu,
    Pool,
    WithParameter,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, float32, int32, pointer

CHANNEL_QUADS = Substrate(
    name="channel-quads",
    source="channel_quads.cu",
    headers=("deconv_octet.cuh", "fused_activations.cuh", "limits.cuh", "pool_nan.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="deconv_quads_leaky_max",
                grid=(
                    "ceil_div(depth * height * width, 64)",
                    "ceil_div(out_channels, 4)",
                    "batch",
                ),
                block=("64", "1", "1"),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("multiplier"),
                    pointer("y"),
                    int32("in_channels"),
                    int32("depth"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                    float32("negative_slope"),
                ),
            ),
        )
    ),
)

PROBLEM = fused_problem(
    74,
    "74_ConvTranspose3d_LeakyReLU_Multiply_LeakyReLU_Max",
    (
        ConvTranspose(3, 3, stride=2, padding=1, output_padding=1),
        LeakyRelu(0.2),
        WithParameter("*", "multiplier", ("out_channels", "1", "1", "1")),
        LeakyRelu(0.2),
        Pool("max", 3, 2),
    ),
    dimensions=(
        parallel("batch", 16),
        reduced("in_channels", 16, tile=4, minimum=2),
        parallel("depth", 16, tile=2, minimum=2),
        parallel("height", 32, tile=4, minimum=4),
        parallel("width", 32, tile=4, minimum=4),
        parallel("out_channels", 32, tile=4, minimum=5),
    ),
    x=("batch", "in_channels", "depth", "height", "width"),
    scalars={"negative_slope": 0.2},
    substrates=(CHANNEL_QUADS,),
)
