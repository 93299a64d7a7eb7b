"""KernelBench level 2, problem 4: a 3 x 3 convolution, then Mish twice."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import Conv, fused_problem, mish, parallel, reduced
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer

COLUMN_STRIPS = Substrate(
    name="column-strips",
    source="column_strips.cu",
    headers=("fused_activations.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv2d_mish_mish",
                grid=(
                    "ceil_div(out_width, 16)",
                    "ceil_div(out_height, 16)",
                    "batch * ceil_div(out_channels, 4)",
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
        )
    ),
)

PROBLEM = fused_problem(
    4,
    "4_Conv2d_Mish_Mish",
    (Conv(2, 3), mish(), mish()),
    dimensions=(
        parallel("batch", 64),
        reduced("in_channels", 64, tile=4),
        parallel("height", 256, tile=16, minimum=3),
        parallel("width", 256, tile=16, minimum=3),
        parallel("out_channels", 128, tile=4),
    ),
    x=("batch", "in_channels", "height", "width"),
    substrates=(COLUMN_STRIPS,),
)
