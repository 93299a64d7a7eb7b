"""KernelBench level 2, problem 75: a linear layer, GroupNorm, row minima, a bias.

The benchmark adds a bias of shape (1, features, 1, 1) to minima of shape (batch, 1): torch makes
(1, features, batch, 1) of them.
"""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Linear,
    Normalise,
    Reduce,
    WithParameter,
    fixed,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

ONE = "1"
PARTS = "ceil_div(groups, 4)"

MINIMUM_FIRST = Substrate(
    name="minimum-first",
    source="minimum_first.cu",
    headers=("gemm_fragment.cuh", "gemm_load.cuh", "limits.cuh", "pool_nan.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("partial", f"{PARTS} * batch"), Workspace("minima", "batch")),
        steps=(
            Launch(
                kernel="gemm_groupnorm_min",
                grid=(PARTS, "ceil_div(batch, 16)", ONE),
                block=("64", ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("norm_weight"),
                    pointer("norm_bias"),
                    pointer("partial"),
                    int32("batch"),
                    int32("groups"),
                    int32("in_features"),
                    float32("eps"),
                ),
            ),
            Launch(
                kernel="row_minima",
                grid=("ceil_div(batch, 32)", ONE, ONE),
                block=("32", "4", ONE),
                arguments=(pointer("partial"), pointer("minima"), int32("batch"), int32(PARTS)),
            ),
            Launch(
                kernel="spread_add",
                grid=("ceil_div(batch, 128)", "out_features", ONE),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("minima"),
                    pointer("spread_bias"),
                    pointer("y"),
                    int32("batch"),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    75,
    "75_Gemm_GroupNorm_Min_BiasAdd",
    (
        Linear(),
        Normalise("group", width=16),
        Reduce("min"),
        WithParameter("+", "spread_bias", ("1", "out_features", "1", "1")),
    ),
    dimensions=(
        parallel("batch", 1024, tile=16),
        reduced("in_features", 8192, tile=8),
        parallel("groups", 512, tile=4),
        fixed("width", 16),
    ),
    derived={"out_features": "groups * width"},
    x=("batch", "in_features"),
    scalars={"eps": 1e-5},
    substrates=(MINIMUM_FIRST,),
)
