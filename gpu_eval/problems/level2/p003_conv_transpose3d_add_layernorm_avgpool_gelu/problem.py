"""KernelBench level 2, problem 3: a transposed convolution, a sum, LayerNorm, averaged, GELU.

LayerNorm is as wide as there are channels and normalises the last axis, which is as long.
"""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    ConvTranspose,
    Normalise,
    Pool,
    WithParameter,
    fused_problem,
    gelu,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, float32, int32, pointer

WARP_ROW_QUADS = Substrate(
    name="warp-row-quads",
    source="warp_row_quads.cu",
    headers=("deconv_octet.cuh", "fused_activations.cuh", "warp_reduce.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="deconv_norm_average_gelu",
                grid=("height", "depth", "batch * ceil_div(out_channels, 4)"),
                block=("32", "4", "1"),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("sum_weight"),
                    pointer("norm_weight"),
                    pointer("norm_bias"),
                    pointer("y"),
                    int32("in_channels"),
                    int32("depth"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                    float32("eps"),
                ),
                shared="4 * 4 * out_width * 4",
            ),
        )
    ),
)

PROBLEM = fused_problem(
    3,
    "3_ConvTranspose3d_Sum_LayerNorm_AvgPool_GELU",
    (
        ConvTranspose(3, 3, stride=2, padding=1, output_padding=1),
        WithParameter("+", "sum_weight", (), start=1.0),
        Normalise("last"),
        Pool("mean", 3, 2),
        gelu(),
    ),
    dimensions=(
        parallel("batch", 32),
        reduced("in_channels", 32, tile=8),
        parallel("depth", 16, minimum=2),
        parallel("height", 32, minimum=2),
        reduced("width", 32, tile=8, minimum=2),
        parallel("out_channels", 64, tile=4),
    ),
    x=("batch", "in_channels", "depth", "height", "width"),
    scalars={"eps": 1e-5},
    substrates=(WARP_ROW_QUADS,),
)
