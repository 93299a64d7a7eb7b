"""KernelBench level 2, problem 18: a linear layer, row sums, four reductions of one number.

The maximum, the mean and both log-sum-exps run over the axis that the sum has left with length 1.
"""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import Linear, Reduce, fused_problem, parallel, reduced
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, int32, pointer

ONE = "1"
PARTS = "ceil_div(out_features, 64)"

SUM_EPILOGUE = Substrate(
    name="sum-epilogue",
    source="sum_epilogue.cu",
    headers=(
        "gemm_fragment.cuh",
        "gemm_load.cuh",
        "limits.cuh",
        "logsumexp_single.cuh",
        "pool_nan.cuh",
    ),
    plan=LaunchPlan(
        workspaces=(Workspace("sums", f"{PARTS} * batch"),),
        steps=(
            Launch(
                kernel="linear_row_sums",
                grid=(PARTS, "ceil_div(batch, 16)", ONE),
                block=("64", ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("sums"),
                    int32("batch"),
                    int32("out_features"),
                    int32("in_features"),
                ),
            ),
            Launch(
                kernel="reductions_of_one",
                grid=("ceil_div(batch, 32)", ONE, ONE),
                block=("32", ONE, ONE),
                arguments=(
                    pointer("sums"),
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
    18,
    "18_Matmul_Sum_Max_AvgPool_LogSumExp_LogSumExp",
    (
        Linear(),
        Reduce("sum"),
        Reduce("max"),
        Reduce("mean"),
        Reduce("logsumexp"),
        Reduce("logsumexp"),
    ),
    dimensions=(
        parallel("batch", 1024, tile=16),
        reduced("in_features", 8192, tile=16),
        reduced("out_features", 8192, tile=64),
    ),
    x=("batch", "in_features"),
    substrates=(SUM_EPILOGUE,),
)
