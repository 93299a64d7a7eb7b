"""KernelBench level 2, problem 94: a linear layer, a bias of its own, hardtanh, Mish, GroupNorm.

The benchmark's 256 groups of 8,192 features are 32 features wide: the width is what statistics are
taken over, and stays; the number of groups may shrink.
"""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Clamp,
    Linear,
    Normalise,
    WithParameter,
    fixed,
    fused_problem,
    mish,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

ONE = "1"
SPLITS = "4"

SPLIT_K = Substrate(
    name="split-k",
    source="split_k.cu",
    headers=("fused_activations.cuh", "warp_reduce.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("partial", f"{SPLITS} * batch * out_features"),),
        steps=(
            Launch(
                kernel="gemm_partial",
                grid=("ceil_div(out_features, 32)", "ceil_div(batch, 32)", SPLITS),
                block=("16", "16", ONE),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("partial"),
                    int32("batch"),
                    int32("out_features"),
                    int32("in_features"),
                    int32(f"ceil_div(in_features, {SPLITS})"),
                ),
            ),
            Launch(
                kernel="combine_bias_hardtanh_mish_groupnorm",
                grid=("ceil_div(groups, 4)", "batch", ONE),
                block=("32", "4", ONE),
                arguments=(
                    pointer("partial"),
                    pointer("bias"),
                    pointer("added_bias"),
                    pointer("norm_weight"),
                    pointer("norm_bias"),
                    pointer("y"),
                    int32("batch"),
                    int32("groups"),
                    int32(SPLITS),
                    float32("low"),
                    float32("high"),
                    float32("eps"),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    94,
    "94_Gemm_BiasAdd_Hardtanh_Mish_GroupNorm",
    (
        Linear(),
        WithParameter("+", "added_bias", ("out_features",)),
        Clamp(-1.0, 1.0),
        mish(),
        Normalise("group", width=32),
    ),
    dimensions=(
        parallel("batch", 1024, tile=32),
        reduced("in_features", 8192, tile=16),
        parallel("groups", 256, tile=4),
        fixed("width", 32),
    ),
    derived={"out_features": "groups * width"},
    x=("batch", "in_features"),
    scalars={"low": -1.0, "high": 1.0, "eps": 1e-5},
    substrates=(SPLIT_K,),
)
