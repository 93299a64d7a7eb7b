"""KernelBench level 2, problem 85: a convolution, GroupNorm, a factor, max-pooling, a clamp."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Clamp,
    Conv,
    Normalise,
    Pool,
    WithParameter,
    fixed,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

PIXELS = "out_height * out_width"
WINDOWS = "pool_height * pool_width"
RUNS = "batch * groups"
PLANES = "batch * out_channels"
# Windows at the edges too, of which only a part is there.
BLOCKS = "ceil_div(ceil_div(out_height, 4) * ceil_div(out_width, 4), 32)"
FACTORS = (pointer("x"), pointer("weight"), pointer("bias"))
INPUT = (int32("in_channels"), int32("height"), int32("width"))
POOLED = (int32("pool_height"), int32("pool_width"))
AFFINE = (pointer("norm_weight"), pointer("norm_bias"), pointer("scale"))
BOUNDS = (float32("clamp_min"), float32("clamp_max"))

THREE_LAUNCHES = Substrate(
    name="three-launches",
    source="three_launches.cu",
    headers=("fused_activations.cuh", "limits.cuh", "pool_nan.cuh", "warp_reduce.cuh"),
    plan=LaunchPlan(
        workspaces=(
            Workspace("hidden", f"{PLANES} * {PIXELS}"),
            Workspace("means", RUNS),
            Workspace("inverses", RUNS),
        ),
        steps=(
            Launch(
                kernel="conv2d_group",
                grid=("ceil_div(out_width, 16)", "ceil_div(out_height, 8)", RUNS),
                block=("16", "8", "1"),
                # Windows of 10 x 18 floats.
                shared="in_channels * 180 * 4",
                arguments=(
                    *FACTORS,
                    pointer("hidden"),
                    *INPUT,
                    int32("groups"),
                    int32("out_height"),
                    int32("out_width"),
                ),
            ),
            Launch(
                kernel="group_moments",
                grid=(RUNS, "1", "1"),
                block=("32", "4", "1"),
                arguments=(
                    pointer("hidden"),
                    pointer("means"),
                    pointer("inverses"),
                    int32(PIXELS),
                    float32("eps"),
                ),
            ),
            Launch(
                kernel="standardise_max_clamp",
                grid=(f"ceil_div({WINDOWS}, 64)", PLANES, "1"),
                block=("64", "1", "1"),
                arguments=(
                    pointer("hidden"),
                    pointer("means"),
                    pointer("inverses"),
                    *AFFINE,
                    pointer("y"),
                    int32("out_channels"),
                    int32("out_height"),
                    int32("out_width"),
                    *POOLED,
                    *BOUNDS,
                ),
            ),
        ),
    ),
)

PARTS = tuple(pointer(name) for name in ("counts", "means", "squares"))

EXTREMES = Substrate(
    name="extremes",
    source="extremes.cu",
    headers=(
        "fused_activations.cuh",
        "limits.cuh",
        "pool_nan.cuh",
        "welford.cuh",
        "norm_block_moments.cuh",
    ),
    plan=LaunchPlan(
        workspaces=(
            Workspace("lows", f"{PLANES} * {WINDOWS}"),
            Workspace("highs", f"{PLANES} * {WINDOWS}"),
            *(Workspace(part.value, f"{PLANES} * {BLOCKS}") for part in PARTS),
        ),
        steps=(
            Launch(
                kernel="conv2d_extremes",
                grid=(BLOCKS, "out_channels", "batch"),
                block=("32", "1", "1"),
                arguments=(
                    *FACTORS,
                    pointer("lows"),
                    pointer("highs"),
                    *PARTS,
                    *INPUT,
                    int32("out_channels"),
                    int32("out_height"),
                    int32("out_width"),
                    *POOLED,
                ),
            ),
            Launch(
                kernel="merge_max_clamp",
                grid=(RUNS, "1", "1"),
                block=("128", "1", "1"),
                arguments=(
                    pointer("lows"),
                    pointer("highs"),
                    *PARTS,
                    *AFFINE,
                    pointer("y"),
                    int32("groups"),
                    int32(f"width_of_group * {BLOCKS}"),
                    int32(WINDOWS),
                    float32("eps"),
                    *BOUNDS,
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    85,
    "85_Conv2d_GroupNorm_Scale_MaxPool_Clamp",
    (
        Conv(2, 3),
        Normalise("group", width=4),
        WithParameter("*", "scale", ("out_channels", "1", "1"), start=1.0),
        Pool("max", 2, 4),
        Clamp(0.0, 1.0),
    ),
    # 126 outputs an axis: two of them are in no window, and count for the moments.
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 8),
        reduced("height", 128, tile=8, minimum=6),
        reduced("width", 128, tile=8, minimum=6),
        parallel("groups", 16),
        fixed("width_of_group", 4),
    ),
    derived={"out_channels": "groups * width_of_group"},
    x=("batch", "in_channels", "height", "width"),
    scalars={"eps": 1e-5, "clamp_min": 0.0, "clamp_max": 1.0},
    substrates=(THREE_LAUNCHES, EXTREMES),
)
