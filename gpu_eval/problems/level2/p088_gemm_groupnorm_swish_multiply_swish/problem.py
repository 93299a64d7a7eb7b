"""KernelBench level 2, problem 88: a linear layer, GroupNorm, swish, a learned factor, swish.

The benchmark's 256 groups of 8,192 features are 32 features wide: the width is what statistics are
taken over, and stays; the number of groups may shrink.
"""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Linear,
    Normalise,
    WithParameter,
    fixed,
    fused_problem,
    parallel,
    reduced,
    swish,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

ONE = "1"
LINEAR = (pointer("x"), pointer("weight"), pointer("bias"))
AFTER = (pointer("norm_weight"), pointer("norm_bias"), pointer("multiply_weight"))

EIGHT_LANES = Substrate(
    name="eight-lanes",
    source="eight_lanes.cu",
    headers=("fused_activations.cuh", "gemm_load.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="gemm_groupnorm_swish_multiply_swish",
                grid=("groups", "ceil_div(batch, 32)", ONE),
                block=("8", "16", ONE),
                arguments=(
                    *LINEAR,
                    *AFTER,
                    pointer("y"),
                    int32("batch"),
                    int32("out_features"),
                    int32("in_features"),
                    float32("eps"),
                ),
            ),
        )
    ),
)

WARP_PER_GROUP = Substrate(
    name="warp-per-group",
    source="warp_per_group.cu",
    headers=("fused_activations.cuh", "gemm_fragment.cuh", "gemm_nt_stage.cuh", "welford.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("hidden", "batch * out_features"),),
        steps=(
            Launch(
                kernel="gemm_bias",
                grid=("ceil_div(out_features, 64)", "ceil_div(batch, 16)", ONE),
                block=("16", "8", ONE),
                arguments=(
                    *LINEAR,
                    pointer("hidden"),
                    int32("batch"),
                    int32("out_features"),
                    int32("in_features"),
                ),
            ),
            Launch(
                kernel="groupnorm_swish_multiply_swish",
                grid=("min(ceil_div(batch * groups, 8), 4096)", ONE, ONE),
                block=("32", "8", ONE),
                arguments=(
                    pointer("hidden"),
                    *AFTER,
                    pointer("y"),
                    int32("batch * groups"),
                    int32("groups"),
                    float32("eps"),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    88,
    "88_Gemm_GroupNorm_Swish_Multiply_Swish",
    (
        Linear(),
        Normalise("group", width=32),
        swish(),
        WithParameter("*", "multiply_weight", ("out_features",)),
        swish(),
    ),
    # Two groups are the 64 columns of the second substrate's tiles.
    dimensions=(
        parallel("batch", 1024, tile=32),
        reduced("in_features", 8192, tile=32),
        parallel("groups", 256, tile=2),
        fixed("width", 32),
    ),
    derived={"out_features": "groups * width"},
    x=("batch", "in_features"),
    scalars={"eps": 1e-5},
    substrates=(EIGHT_LANES, WARP_PER_GROUP),
)
