"""KernelBench level 2, problem 55: a linear layer, max-pooling in pairs, row sums, halved."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Linear,
    Pool,
    Reduce,
    Scale,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

PARTS = "ceil_div(out_features, 32)"
STRIPS = "ceil_div(batch, 32)"

LAST_BLOCK = Substrate(
    name="last-block",
    source="last_block.cu",
    headers=("gemm_load.cuh", "pool_nan.cuh"),
    plan=LaunchPlan(
        workspaces=(
            Workspace("partial", f"batch * {PARTS}"),
            Workspace("finished", STRIPS, zeroed=True),
        ),
        steps=(
            Launch(
                kernel="matmul_maxpool_sum_scale",
                grid=(PARTS, STRIPS, "1"),
                block=("128", "1", "1"),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("partial"),
                    pointer("finished"),
                    pointer("y"),
                    int32("batch"),
                    int32("out_features"),
                    int32("in_features"),
                    float32("scale_factor"),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    55,
    "55_Matmul_MaxPool_Sum_Scale",
    (Linear(), Pool("max", 1, 2), Reduce("sum", (1,), keep=False), Scale(0.5)),
    dimensions=(
        parallel("batch", 128, tile=32),
        reduced("in_features", 32768, tile=16),
        reduced("out_features", 32768, tile=32, minimum=2),
    ),
    x=("batch", "in_features"),
    scalars={"scale_factor": 0.5},
    substrates=(LAST_BLOCK,),
)
