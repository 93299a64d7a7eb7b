"""KernelBench level 2, problem 2: a transposed convolution, a bias, clamped, scaled, clamped."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Clamp,
    ConvTranspose,
    Scale,
    WithParameter,
    divide,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, float32, int32, pointer

QUADS = Substrate(
    name="quads",
    source="quads.cu",
    headers=("conv_stage.cuh", "deconv_quad.cuh", "fused_activations.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="deconv_quads_clamped",
                grid=(
                    "ceil_div(width, 16)",
                    "ceil_div(height, 8)",
                    "batch * ceil_div(out_channels, 2)",
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
                    float32("scaling"),
                ),
            ),
        )
    ),
)

PROBLEM = fused_problem(
    2,
    "2_ConvTranspose2d_BiasAdd_Clamp_Scaling_Clamp_Divide",
    (
        ConvTranspose(2, 3, stride=2, padding=1, output_padding=1),
        WithParameter("+", "channel_bias", ("out_channels", "1", "1")),
        Clamp(0.0, 1.0),
        Scale(2.0),
        Clamp(0.0, 1.0),
        divide(2.0),
    ),
    # A tile is 8 x 16 input pixels, 16 x 32 outputs.
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 64),
        parallel("height", 128, tile=8, minimum=2),
        parallel("width", 128, tile=16, minimum=2),
        parallel("out_channels", 64, tile=2),
    ),
    x=("batch", "in_channels", "height", "width"),
    scalars={"scaling": 2.0},
    substrates=(QUADS,),
)
