"""KernelBench level 2, problem 17: a convolution, InstanceNorm, divided by a number."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Conv,
    Normalise,
    divide,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, float32, int32, pointer

IN_PLACE = Substrate(
    name="in-place",
    source="in_place.cu",
    headers=("warp_reduce.cuh", "block_reduce.cuh", "conv_stage.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv2d_tile",
                grid=(
                    "ceil_div(out_width, 16)",
                    "ceil_div(out_height, 4)",
                    "batch * ceil_div(out_channels, 2)",
                ),
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
                    int32("out_height"),
                    int32("out_width"),
                ),
            ),
            Launch(
                kernel="instance_norm_divide",
                grid=("batch * out_channels", "1", "1"),
                block=("128", "1", "1"),
                arguments=(
                    pointer("y"),
                    int32("out_height * out_width"),
                    float32("eps"),
                    float32("divide_by"),
                ),
            ),
        )
    ),
)

PROBLEM = fused_problem(
    17,
    "17_Conv2d_InstanceNorm_Divide",
    (Conv(2, 3), Normalise("instance", affine_map=False), divide(2.0)),
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 64, tile=2),
        reduced("height", 128, tile=8, minimum=4),
        reduced("width", 128, tile=16, minimum=4),
        parallel("out_channels", 128, tile=2, minimum=2),
    ),
    x=("batch", "in_channels", "height", "width"),
    scalars={"eps": 1e-5, "divide_by": 2.0},
    substrates=(IN_PLACE,),
)
