"""KernelBench level 2, problem 50: a transposed convolution, scaled, averaged, a bias, scaled."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    ConvTranspose,
    Pool,
    WithParameter,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer

POOLED_OCTETS = Substrate(
    name="pooled-octets",
    source="pooled_octets.cu",
    headers=("deconv_octet.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="deconv_scale_average",
                # Every thread takes two windows.
                grid=(
                    "ceil_div(pool_depth * pool_height * pool_width, 128)",
                    "ceil_div(out_channels, 2)",
                    "batch",
                ),
                block=("64", "1", "1"),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("scale1"),
                    pointer("pooled_bias"),
                    pointer("scale2"),
                    pointer("y"),
                    int32("in_channels"),
                    int32("depth"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                    int32("pool_depth"),
                    int32("pool_height"),
                    int32("pool_width"),
                ),
                shared="2 * in_channels * 27 * 4",
            ),
        )
    ),
)

PROBLEM = fused_problem(
    50,
    "50_ConvTranspose3d_Scaling_AvgPool_BiasAdd_Scaling",
    (
        ConvTranspose(3, 3, stride=2, padding=1),
        WithParameter("*", "scale1", (), start=0.5),
        Pool("mean", 3, 2),
        WithParameter("+", "pooled_bias", ("out_channels", "1", "1", "1")),
        WithParameter("*", "scale2", (), start=1.0),
    ),
    # (n - 1) windows an axis: 15 x 31 x 31 leave 79 of them beyond what blocks of 64 take.
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 3),
        parallel("depth", 16, tile=2, minimum=5),
        parallel("height", 32, tile=2, minimum=5),
        parallel("width", 32, tile=2, minimum=5),
        parallel("out_channels", 16, tile=2),
    ),
    x=("batch", "in_channels", "depth", "height", "width"),
    substrates=(POOLED_OCTETS,),
)
