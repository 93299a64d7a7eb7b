"""KernelBench level 2, problem 80: a linear layer, the rows' maxima less their mean, GELU.

The maxima are one column, whose mean over itself is subtracted: the output is zero whatever the
input is.
"""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Linear,
    Reduce,
    SubtractMean,
    fused_problem,
    gelu,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, int32, pointer

ONE = "1"
PARTS = "ceil_div(out_features, 64)"

LANES_ALONG_TERMS = Substrate(
    name="lanes-along-terms",
    source="lanes_along_terms.cu",
    headers=(
        "fused_activations.cuh",
        "gemm_load.cuh",
        "limits.cuh",
        "pool_nan.cuh",
    ),
    plan=LaunchPlan(
        workspaces=(Workspace("partial", f"batch * {PARTS}"),),
        steps=(
            Launch(
                kernel="gemm_row_max",
                grid=(PARTS, "ceil_div(batch, 4)", ONE),
                block=("32", "4", ONE),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("partial"),
                    int32("batch"),
                    int32("out_features"),
                    int32("in_features"),
                ),
            ),
            Launch(
                kernel="max_subtract_gelu",
                grid=("ceil_div(batch, 4)", ONE, ONE),
                block=("32", "4", ONE),
                arguments=(
                    pointer("partial"),
                    pointer("y"),
                    int32("batch"),
                    int32(PARTS),
                    int32(ONE),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    80,
    "80_Gemm_Max_Subtract_GELU",
    (Linear(), Reduce("max"), SubtractMean((1,)), gelu()),
    dimensions=(
        parallel("batch", 1024, tile=4),
        reduced("in_features", 8192, tile=128),
        reduced("out_features", 8192, tile=64),
    ),
    x=("batch", "in_features"),
    substrates=(LANES_ALONG_TERMS,),
)
