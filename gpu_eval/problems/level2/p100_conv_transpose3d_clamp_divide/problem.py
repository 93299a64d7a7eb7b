"""KernelBench level 2, problem 100: a transposed convolution, clamped from below, halved."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Clamp,
    ConvTranspose,
    divide,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, float32, int32, pointer

GATHER = Substrate(
    name="gather",
    source="gather.cu",
    headers=("deconv_source.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="deconv3d_clamp_divide",
                grid=(
                    "ceil_div(out_depth * out_height * out_width, 128)",
                    "ceil_div(out_channels, 4)",
                    "batch",
                ),
                block=("128", "1", "1"),
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
                    int32("out_depth"),
                    int32("out_height"),
                    int32("out_width"),
                    float32("min_value"),
                    float32("divisor"),
                ),
            ),
        )
    ),
)

PROBLEM = fused_problem(
    100,
    "100_ConvTranspose3d_Clamp_Min_Divide",
    (ConvTranspose(3, 3, stride=2, padding=1), Clamp(low=-1.0), divide(2.0)),
    # 2 n - 1 outputs an axis: an odd number of voxels, with a tail in blocks of 128.
    dimensions=(
        parallel("batch", 16),
        reduced("in_channels", 64),
        parallel("depth", 24, tile=2, minimum=2),
        parallel("height", 48, tile=4, minimum=2),
        parallel("width", 48, tile=4, minimum=2),
        parallel("out_channels", 128, tile=4),
    ),
    x=("batch", "in_channels", "depth", "height", "width"),
    scalars={"min_value": -1.0, "divisor": 2.0},
    substrates=(GATHER,),
)
