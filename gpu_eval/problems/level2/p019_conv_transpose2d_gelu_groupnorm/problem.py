"""KernelBench level 2, problem 19: a transposed convolution, GELU, GroupNorm in eight groups."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    ConvTranspose,
    Normalise,
    fixed,
    fused_problem,
    gelu,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

ONE = "1"
PIXELS = "out_height * out_width"

STRIPS = Substrate(
    name="strips",
    source="strips.cu",
    headers=("fused_activations.cuh", "norm_block_moments.cuh", "welford.cuh"),
    plan=LaunchPlan(
        workspaces=(
            Workspace("hidden", f"batch * out_channels * {PIXELS}"),
            Workspace("means", "batch * groups"),
            Workspace("inverses", "batch * groups"),
        ),
        steps=(
            Launch(
                kernel="deconv_strips_gelu",
                grid=(
                    "ceil_div(out_width, 16)",
                    "ceil_div(out_height, 16)",
                    "batch * ceil_div(out_channels, 2)",
                ),
                block=("4", "16", ONE),
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
                kernel="group_moments",
                grid=("batch * groups", ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("hidden"),
                    pointer("means"),
                    pointer("inverses"),
                    int32(f"group_width * {PIXELS}"),
                    float32("eps"),
                ),
            ),
            Launch(
                kernel="group_apply",
                grid=(f"ceil_div({PIXELS}, 256)", "out_channels", "batch"),
                block=("64", ONE, ONE),
                arguments=(
                    pointer("hidden"),
                    pointer("means"),
                    pointer("inverses"),
                    pointer("norm_weight"),
                    pointer("norm_bias"),
                    pointer("y"),
                    int32("out_channels"),
                    int32("group_width"),
                    int32(PIXELS),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    19,
    "19_ConvTranspose2d_GELU_GroupNorm",
    (ConvTranspose(2, 3), gelu(), Normalise("group", groups=8)),
    # n + 2 outputs an axis leave two rows and two columns in tiles of 16 x 16.
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 64),
        reduced("height", 256, tile=16, minimum=2),
        reduced("width", 256, tile=16, minimum=2),
        fixed("groups", 8),
        reduced("group_width", 8),
    ),
    x=("batch", "in_channels", "height", "width"),
    derived={"out_channels": "groups * group_width"},
    scalars={"eps": 1e-5},
    substrates=(STRIPS,),
)
