"""KernelBench level 2, problem 31: a convolution, min with a number, a bias, a factor."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Clamp,
    Conv,
    Scale,
    WithParameter,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, float32, int32, pointer

IMPLICIT_GEMM = Substrate(
    name="implicit-gemm",
    source="implicit_gemm.cu",
    headers=("gemm_fragment.cuh", "pool_nan.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv2d_min_add_scale",
                grid=(
                    "ceil_div(out_height * out_width, 32)",
                    "ceil_div(out_channels, 16)",
                    "batch",
                ),
                block=("64", "1", "1"),
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
                    float32("constant_value"),
                    float32("scaling_factor"),
                ),
            ),
        )
    ),
)

PROBLEM = fused_problem(
    31,
    "31_Conv2d_Min_Add_Multiply",
    (
        Conv(2, 3),
        Clamp(high=0.5),
        WithParameter("+", "channel_bias", ("out_channels", "1", "1")),
        Scale(2.0),
    ),
    # 126 x 126 pixels leave 4 over in tiles of 32; steps of 8 along the axes keep such a tail.
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 64, tile=4),
        parallel("height", 128, tile=8, minimum=3),
        parallel("width", 128, tile=8, minimum=3),
        parallel("out_channels", 128, tile=16, minimum=2),
    ),
    x=("batch", "in_channels", "height", "width"),
    scalars={"constant_value": 0.5, "scaling_factor": 2.0},
    substrates=(IMPLICIT_GEMM,),
)
