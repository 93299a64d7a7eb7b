"""KernelBench level 2, problem 47: a 3 x 3 x 3 convolution, Mish, then tanh."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import Conv, fused_problem, mish, parallel, reduced, tanh
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer

CHANNEL_STEPS = Substrate(
    name="channel-steps",
    source="channel_steps.cu",
    headers=("fused_activations.cuh", "gemm_fragment.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv3d_mish_tanh",
                grid=(
                    "ceil_div(out_depth * out_height * out_width, 32)",
                    "ceil_div(out_channels, 16)",
                    "batch",
                ),
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
                    int32("out_depth"),
                    int32("out_height"),
                    int32("out_width"),
                ),
            ),
        )
    ),
)

PROBLEM = fused_problem(
    47,
    "47_Conv3d_Mish_Tanh",
    (Conv(3, 3), mish(), tanh()),
    # With all axes multiples of 8, whatever their size, 24 of the last 32 voxels are left over.
    dimensions=(
        parallel("batch", 16),
        reduced("in_channels", 32),
        parallel("depth", 32, tile=8, minimum=3),
        parallel("height", 64, tile=8, minimum=3),
        parallel("width", 64, tile=8, minimum=3),
        parallel("out_channels", 64, tile=16),
    ),
    x=("batch", "in_channels", "depth", "height", "width"),
    substrates=(CHANNEL_STEPS,),
)
