"""KernelBench level 2, problem 37: a linear layer, swish, a bias, GroupNorm.

The benchmark's 64 groups of 4,096 features are 64 features wide: the width is what statistics are
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
from gpu_eval.problems.plan import Launch, LaunchPlan, float32, int32, pointer

ONE = "1"
ELEMENTS = "batch * out_features"
BY_ELEMENT = (f"ceil_div({ELEMENTS}, 256)", ONE, ONE)

GROUP_IN_BLOCK = Substrate(
    name="group-in-block",
    source="group_in_block.cu",
    headers=("fused_activations.cuh", "warp_reduce.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="matmul_swish_bias_groupnorm",
                grid=("groups", "ceil_div(batch, 16)", ONE),
                block=("32", "8", ONE),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("added_bias"),
                    pointer("norm_weight"),
                    pointer("norm_bias"),
                    pointer("y"),
                    int32("batch"),
                    int32("groups"),
                    int32("in_features"),
                    float32("eps"),
                ),
            ),
        )
    ),
)

STAGE_BY_STAGE = Substrate(
    name="stage-by-stage",
    source="stage_by_stage.cu",
    headers=("fused_activations.cuh", "welford.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="linear_forward",
                grid=("ceil_div(out_features, 16)", "ceil_div(batch, 16)", ONE),
                block=("16", "16", ONE),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("y"),
                    int32("batch"),
                    int32("out_features"),
                    int32("in_features"),
                ),
            ),
            Launch(
                kernel="swish_forward",
                grid=BY_ELEMENT,
                block=("256", ONE, ONE),
                arguments=(pointer("y"), int32(ELEMENTS)),
            ),
            Launch(
                kernel="add_bias",
                grid=BY_ELEMENT,
                block=("256", ONE, ONE),
                arguments=(
                    pointer("y"),
                    pointer("added_bias"),
                    int32(ELEMENTS),
                    int32("out_features"),
                ),
            ),
            Launch(
                kernel="group_norm",
                grid=("batch", ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("y"),
                    pointer("norm_weight"),
                    pointer("norm_bias"),
                    int32("groups"),
                    int32("width"),
                    float32("eps"),
                ),
            ),
        )
    ),
)

PROBLEM = fused_problem(
    37,
    "37_Matmul_Swish_Sum_GroupNorm",
    (
        Linear(),
        swish(),
        WithParameter("+", "added_bias", ("out_features",)),
        Normalise("group", width=64),
    ),
    dimensions=(
        parallel("batch", 32768, tile=16),
        reduced("in_features", 1024, tile=16),
        parallel("groups", 64),
        fixed("width", 64),
    ),
    derived={"out_features": "groups * width"},
    x=("batch", "in_features"),
    scalars={"eps": 1e-5},
    substrates=(GROUP_IN_BLOCK, STAGE_BY_STAGE),
)
