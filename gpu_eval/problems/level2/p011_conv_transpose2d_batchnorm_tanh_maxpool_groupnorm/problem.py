"""KernelBench level 2, problem 11: a transposed convolution, BatchNorm, tanh, pooled, GroupNorm."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    ConvTranspose,
    Normalise,
    Pool,
    fixed,
    fused_problem,
    reduced,
    tanh,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

ONE = "1"
PIXELS = "out_height * out_width"
WINDOWS = "pool_height * pool_width"

SHARED_GROUP = Substrate(
    name="shared-group",
    source="shared_group.cu",
    headers=("pool_nan.cuh", "tree_reduce.cuh"),
    plan=LaunchPlan(
        workspaces=(
            Workspace("hidden", f"batch * out_channels * {PIXELS}"),
            Workspace("means", "out_channels"),
            Workspace("inverses", "out_channels"),
        ),
        steps=(
            Launch(
                kernel="deconv_tiles",
                grid=(
                    "ceil_div(out_width, 16)",
                    "ceil_div(out_height, 8)",
                    "batch * ceil_div(out_channels, 4)",
                ),
                block=("16", "8", ONE),
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
                kernel="channel_statistics",
                grid=("out_channels", ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("hidden"),
                    pointer("means"),
                    pointer("inverses"),
                    int32("batch"),
                    int32("out_channels"),
                    int32(PIXELS),
                    float32("eps"),
                ),
            ),
            Launch(
                kernel="normalise_tanh_pool_group",
                grid=("batch * groups", ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("hidden"),
                    pointer("means"),
                    pointer("inverses"),
                    pointer("batch_weight"),
                    pointer("batch_bias"),
                    pointer("group_weight"),
                    pointer("group_bias"),
                    pointer("y"),
                    int32("groups"),
                    int32("group_width"),
                    int32("out_height"),
                    int32("out_width"),
                    int32("pool_height"),
                    int32("pool_width"),
                    float32("eps"),
                ),
                shared=f"group_width * {WINDOWS} * 4",
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    11,
    "11_ConvTranspose2d_BatchNorm_Tanh_MaxPool_GroupNorm",
    (
        ConvTranspose(2, 5, padding=1),
        Normalise("batch", prefix="batch"),
        tanh(),
        Pool("max", 2, 2),
        Normalise("group", groups=8, prefix="group"),
    ),
    # n + 2 outputs an axis: odd sizes leave pooling a row, even ones the tiles of 8 x 16 two.
    dimensions=(
        reduced("batch", 512, minimum=2),
        reduced("in_channels", 64),
        reduced("height", 32, tile=4, minimum=2),
        reduced("width", 32, tile=4, minimum=2),
        fixed("groups", 8),
        reduced("group_width", 16),
    ),
    x=("batch", "in_channels", "height", "width"),
    derived={"out_channels": "groups * group_width"},
    scalars={"eps": 1e-5},
    substrates=(SHARED_GROUP,),
)
