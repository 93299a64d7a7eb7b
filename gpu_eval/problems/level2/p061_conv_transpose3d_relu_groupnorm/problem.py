"""KernelBench level 2, problem 61: a transposed convolution, ReLU, GroupNorm in eight groups."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    ConvTranspose,
    Normalise,
    fixed,
    fused_problem,
    parallel,
    reduced,
    relu,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

ONE = "1"
VOXELS = "out_depth * out_height * out_width"

SLICES = Substrate(
    name="slices",
    source="slices.cu",
    headers=("block_reduce.cuh", "fused_activations.cuh", "warp_reduce.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("hidden", f"batch * out_channels * {VOXELS}"),),
        steps=(
            Launch(
                kernel="deconv_slices_relu",
                grid=(
                    "ceil_div(out_height, 8) * ceil_div(out_width, 8)",
                    "out_depth",
                    "batch * ceil_div(out_channels, 4)",
                ),
                block=("8", "8", ONE),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("hidden"),
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
            Launch(
                kernel="group_norm_two_pass",
                grid=("batch * groups", ONE, ONE),
                block=("256", ONE, ONE),
                arguments=(
                    pointer("hidden"),
                    pointer("norm_weight"),
                    pointer("norm_bias"),
                    pointer("y"),
                    int32("groups"),
                    int32("group_width"),
                    int32(VOXELS),
                    float32("eps"),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    61,
    "61_ConvTranspose3d_ReLU_GroupNorm",
    (ConvTranspose(3, 3, bias=""), relu(), Normalise("group", groups=8)),
    # n + 2 outputs an axis leave two rows and two columns in tiles of 8 x 8.
    dimensions=(
        parallel("batch", 16),
        reduced("in_channels", 64),
        reduced("depth", 32, minimum=2),
        reduced("height", 32, tile=8, minimum=2),
        reduced("width", 32, tile=8, minimum=2),
        fixed("groups", 8),
        reduced("group_width", 16),
    ),
    x=("batch", "in_channels", "depth", "height", "width"),
    derived={"out_channels": "groups * group_width"},
    scalars={"eps": 1e-5},
    substrates=(SLICES,),
)
