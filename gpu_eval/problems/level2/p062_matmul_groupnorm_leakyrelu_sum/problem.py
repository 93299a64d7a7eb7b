"""KernelBench level 2, problem 62: a linear layer, GroupNorm, LeakyReLU, added to itself.

The benchmark's 512 groups of 8,192 features are 16 features wide: the width is what statistics are
taken over, and stays; the number of groups may shrink.
"""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    LeakyRelu,
    Linear,
    Normalise,
    Scale,
    fixed,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, float32, int32, pointer

ONE = "1"
FACTORS = (pointer("x"), pointer("weight"), pointer("bias"))
SIZES = (int32("batch"), int32("out_features"), int32("in_features"))
AFFINE = (pointer("norm_weight"), pointer("norm_bias"))
EPILOGUE = (float32("eps"), float32("negative_slope"))

FOUR_LANES = Substrate(
    name="four-lanes",
    source="four_lanes.cu",
    headers=("fused_activations.cuh", "gemm_load.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="matmul_groupnorm_leaky_sum",
                grid=("ceil_div(groups, 2)", "ceil_div(batch, 32)", ONE),
                block=("128", ONE, ONE),
                arguments=(*FACTORS, *AFFINE, pointer("y"), *SIZES, *EPILOGUE),
            ),
        )
    ),
)

THREAD_A_GROUP = Substrate(
    name="thread-a-group",
    source="thread_a_group.cu",
    headers=("fused_activations.cuh", "gemm_nt_stage.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="linear_pairs",
                grid=("ceil_div(batch, 32)", "groups", ONE),
                block=("64", ONE, ONE),
                arguments=(*FACTORS, pointer("y"), *SIZES),
            ),
            Launch(
                kernel="groupnorm_leaky_sum",
                grid=("ceil_div(batch * groups, 64)", ONE, ONE),
                block=("64", ONE, ONE),
                arguments=(
                    pointer("y"),
                    *AFFINE,
                    int32("batch * groups"),
                    int32("groups"),
                    *EPILOGUE,
                ),
            ),
        )
    ),
)

PROBLEM = fused_problem(
    62,
    "62_Matmul_GroupNorm_LeakyReLU_Sum",
    (
        Linear(),
        Normalise("group", width=16),
        LeakyRelu(0.01),
        Scale(2.0),  # x + x
    ),
    dimensions=(
        parallel("batch", 1024, tile=32),
        reduced("in_features", 8192, tile=16),
        parallel("groups", 512, tile=2),
        fixed("width", 16),
    ),
    derived={"out_features": "groups * width"},
    x=("batch", "in_features"),
    scalars={"eps": 1e-5, "negative_slope": 0.01},
    substrates=(FOUR_LANES, THREAD_A_GROUP),
)
