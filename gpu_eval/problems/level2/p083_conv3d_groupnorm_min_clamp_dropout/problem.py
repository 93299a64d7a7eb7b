"""KernelBench level 2, problem 83: a convolution, GroupNorm, a minimum, a clamp, dropout.

The minimum with 0 and the clamp from 0 leave nothing but zeros, whatever dropout drops.
"""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Clamp,
    Conv,
    Dropout,
    Normalise,
    fixed,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

VOXELS = "out_depth * out_height * out_width"
RUNS = "batch * groups"
PARTS = f"min(ceil_div({VOXELS}, 96), 3)"
MOMENTS = tuple(pointer(name) for name in ("counts", "means", "squares"))

PARTIAL_MOMENTS = Substrate(
    name="partial-moments",
    source="partial_moments.cu",
    headers=(
        "fused_activations.cuh",
        "fused_dropout.cuh",
        "pool_nan.cuh",
        "welford.cuh",
        "norm_block_moments.cuh",
    ),
    plan=LaunchPlan(
        workspaces=(
            Workspace("hidden", f"batch * out_channels * {VOXELS}"),
            *(Workspace(part.value, f"{RUNS} * {PARTS}") for part in MOMENTS),
            Workspace("centres", RUNS),
            Workspace("inverses", RUNS),
        ),
        steps=(
            Launch(
                kernel="conv3d_partial_moments",
                grid=(PARTS, RUNS, "1"),
                block=("96", "1", "1"),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("hidden"),
                    *MOMENTS,
                    int32("in_channels"),
                    int32("depth"),
                    int32("height"),
                    int32("width"),
                    int32("groups"),
                    int32("out_depth"),
                    int32("out_height"),
                    int32("out_width"),
                ),
            ),
            Launch(
                kernel="merge_moments",
                grid=(f"ceil_div({RUNS}, 2)", "1", "1"),
                block=("32", "2", "1"),
                arguments=(
                    *MOMENTS,
                    pointer("centres"),
                    pointer("inverses"),
                    int32(RUNS),
                    int32(PARTS),
                    float32("eps"),
                ),
            ),
            Launch(
                kernel="standardise_min_clamp_dropout",
                grid=(f"ceil_div({VOXELS}, 128)", "batch * out_channels", "1"),
                block=("128", "1", "1"),
                arguments=(
                    pointer("hidden"),
                    pointer("centres"),
                    pointer("inverses"),
                    pointer("norm_weight"),
                    pointer("norm_bias"),
                    pointer("y"),
                    int32("out_channels"),
                    int32(VOXELS),
                    float32("limit"),
                    float32("low"),
                    float32("high"),
                    float32("probability"),
                    int32("seed"),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    83,
    "83_Conv3d_GroupNorm_Min_Clamp_Dropout",
    (
        Conv(3, 3),
        Normalise("group", width=2),
        Clamp(high=0.0),
        Clamp(0.0, 1.0),
        Dropout(0.2),
    ),
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 3),
        reduced("depth", 16, minimum=4),
        reduced("height", 64, minimum=4),
        reduced("width", 64, minimum=4),
        parallel("groups", 8),
        fixed("width_of_group", 2),
    ),
    derived={"out_channels": "groups * width_of_group"},
    x=("batch", "in_channels", "depth", "height", "width"),
    scalars={
        "eps": 1e-5,
        "limit": 0.0,
        "low": 0.0,
        "high": 1.0,
        "probability": 0.2,
        "seed": 20240229,
    },
    substrates=(PARTIAL_MOMENTS,),
)
