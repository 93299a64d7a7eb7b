"""KernelBench level 2, problem 93: a transposed convolution, a shift, at most 0, GELU, doubled."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Clamp,
    ConvTranspose,
    Scale,
    Shift,
    fused_problem,
    gelu,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, float32, int32, pointer

FLOAT2_QUADS = Substrate(
    name="float2-quads",
    source="float2_quads.cu",
    headers=("fused_activations.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="deconv_add_min_gelu",
                # 2 (n + 1) outputs an axis: one pair more than there are inputs.
                grid=("ceil_div(width + 1, 16)", "ceil_div(height + 1, 4)", "batch * out_channels"),
                block=("16", "4", "1"),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("y"),
                    int32("in_channels"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                    float32("add_value"),
                    float32("multiply_value"),
                ),
            ),
        )
    ),
)

PARITY_GEMM = Substrate(
    name="parity-gemm",
    source="parity_gemm.cu",
    headers=("fused_activations.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="deconv_parity_min_gelu",
                grid=(
                    "ceil_div((height + 1) * (width + 1), 16)",
                    "ceil_div(out_channels, 16)",
                    "batch * 4",
                ),
                block=("16", "16", "1"),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("y"),
                    int32("in_channels"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                    float32("add_value"),
                    float32("multiply_value"),
                ),
            ),
        )
    ),
)

PROBLEM = fused_problem(
    93,
    "93_ConvTranspose2d_Add_Min_GELU_Multiply",
    (ConvTranspose(2, 4, stride=2), Shift(0.5), Clamp(high=0.0), gelu(), Scale(2.0)),
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 64),
        parallel("height", 64, tile=4, minimum=2),
        parallel("width", 64, tile=16, minimum=2),
        parallel("out_channels", 128),
    ),
    x=("batch", "in_channels", "height", "width"),
    scalars={"add_value": 0.5, "multiply_value": 2.0},
    substrates=(FLOAT2_QUADS, PARITY_GEMM),
)
