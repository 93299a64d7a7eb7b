"""KernelBench level 2, problem 73: a convolution, BatchNorm in training mode, a factor."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Conv,
    Normalise,
    Scale,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

PIXELS = "out_height * out_width"
PLANES = "batch * out_channels"

IMAGE_MOMENTS = Substrate(
    name="image-moments",
    source="image_moments.cu",
    headers=("warp_reduce.cuh", "block_reduce.cuh"),
    plan=LaunchPlan(
        workspaces=(
            Workspace("hidden", f"{PLANES} * {PIXELS}"),
            Workspace("means", PLANES),
            Workspace("squares", PLANES),
        ),
        steps=(
            Launch(
                kernel="conv2d_channels",
                grid=(f"ceil_div({PIXELS}, 64)", "ceil_div(out_channels, 6)", "batch"),
                block=("64", "1", "1"),
                shared="in_channels * 9 * 6 * 4",
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("hidden"),
                    int32("in_channels"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                    int32("out_height"),
                    int32("out_width"),
                ),
            ),
            Launch(
                kernel="plane_moments",
                grid=(PLANES, "1", "1"),
                block=("64", "1", "1"),
                arguments=(
                    pointer("hidden"),
                    pointer("means"),
                    pointer("squares"),
                    int32(PIXELS),
                ),
            ),
            Launch(
                kernel="batch_norm_scale",
                grid=(PLANES, "1", "1"),
                block=("64", "1", "1"),
                arguments=(
                    pointer("hidden"),
                    pointer("means"),
                    pointer("squares"),
                    pointer("norm_weight"),
                    pointer("norm_bias"),
                    pointer("y"),
                    int32("batch"),
                    int32("out_channels"),
                    int32(PIXELS),
                    float32("eps"),
                    float32("scaling_factor"),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    73,
    "73_Conv2d_BatchNorm_Scaling",
    (Conv(2, 3), Normalise("batch"), Scale(2.0)),
    # 64 channels leave 4 over in sixes, 126 x 126 pixels leave 4 over in blocks of 64.
    dimensions=(
        reduced("batch", 128, minimum=2),
        reduced("in_channels", 8),
        reduced("height", 128, tile=8, minimum=3),
        reduced("width", 128, tile=8, minimum=3),
        parallel("out_channels", 64, tile=6),
    ),
    x=("batch", "in_channels", "height", "width"),
    scalars={"eps": 1e-5, "scaling_factor": 2.0},
    substrates=(IMAGE_MOMENTS,),
)
