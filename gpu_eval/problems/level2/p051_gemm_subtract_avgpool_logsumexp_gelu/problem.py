"""KernelBench level 2, problem 51: a linear layer less a vector, row means, GELU, a residual.

The log-sum-exp between the mean and GELU runs over one number. One number a row is added to the
input's row: the output has the input's shape.
"""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Linear,
    Reduce,
    Residual,
    WithParameter,
    fused_problem,
    gelu,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer

ROWS_IN_BLOCK = Substrate(
    name="rows-in-block",
    source="rows_in_block.cu",
    headers=("fused_activations.cuh", "limits.cuh", "logsumexp_single.cuh", "warp_reduce.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="gemm_subtract_mean_gelu_add",
                grid=("ceil_div(batch, 8)", "1", "1"),
                block=("32", "8", "1"),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("subtract"),
                    pointer("y"),
                    int32("batch"),
                    int32("out_features"),
                    int32("in_features"),
                ),
            ),
        )
    ),
)

PROBLEM = fused_problem(
    51,
    "51_Gemm_Subtract_GlobalAvgPool_LogSumExp_GELU_ResidualAdd",
    (
        Linear(),
        WithParameter("-", "subtract", ("out_features",)),
        Reduce("mean"),
        Reduce("logsumexp"),
        gelu(),
        Residual("+", "x"),
    ),
    dimensions=(
        parallel("batch", 2048, tile=8),
        reduced("in_features", 8192, tile=32),
        reduced("out_features", 8192, tile=64),
    ),
    x=("batch", "in_features"),
    substrates=(ROWS_IN_BLOCK,),
)
