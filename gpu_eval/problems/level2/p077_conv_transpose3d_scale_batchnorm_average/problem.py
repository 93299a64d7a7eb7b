"""KernelBench level 2, problem 77: a transposed convolution, scaled, BatchNorm, averaged."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    ConvTranspose,
    Normalise,
    Scale,
    fused_problem,
    global_average,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

ONE = "1"
VOXELS = "out_depth * out_height * out_width"

SLIDING = Substrate(
    name="sliding",
    source="sliding.cu",
    headers=("block_reduce.cuh", "warp_reduce.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("hidden", f"batch * out_channels * {VOXELS}"),),
        steps=(
            Launch(
                kernel="deconv_sliding_scale",
                grid=(
                    "ceil_div(out_depth * out_height * ceil_div(out_width, 4), 64)",
                    "out_channels",
                    "batch",
                ),
                block=("64", ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("hidden"),
                    int32("in_channels"),
                    int32("depth"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                    int32("out_depth"),
                    int32("out_height"),
                    int32("out_width"),
                    float32("scale_factor"),
                ),
            ),
            Launch(
                kernel="batch_norm_average",
                grid=("out_channels", ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("hidden"),
                    pointer("norm_weight"),
                    pointer("norm_bias"),
                    pointer("y"),
                    int32("batch"),
                    int32("out_channels"),
                    int32(VOXELS),
                    float32("eps"),
                ),
                shared="batch * 4",
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    77,
    "77_ConvTranspose3d_Scale_BatchNorm_GlobalAvgPool",
    (ConvTranspose(3, 5), Scale(2.0), Normalise("batch"), global_average(3)),
    dimensions=(
        reduced("batch", 16, minimum=2),
        reduced("in_channels", 64),
        reduced("depth", 16, minimum=2),
        reduced("height", 32, minimum=2),
        reduced("width", 32, tile=4, minimum=2),
        parallel("out_channels", 128),
    ),
    x=("batch", "in_channels", "depth", "height", "width"),
    scalars={"scale_factor": 2.0, "eps": 1e-5},
    substrates=(SLIDING,),
)
