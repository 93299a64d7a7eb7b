"""KernelBench level 2, problem 29: a linear layer and Mish, twice."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import Linear, fused_problem, mish, parallel, reduced
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer

LANES = Substrate(
    name="lanes",
    source="lanes.cu",
    headers=("fused_activations.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="matmul_mish_mish",
                grid=("ceil_div(out_features, 32)", "ceil_div(batch, 16)", "1"),
                block=("32", "4", "1"),
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
        )
    ),
)

PROBLEM = fused_problem(
    29,
    "29_Matmul_Mish_Mish",
    (Linear(), mish(), mish()),
    dimensions=(
        parallel("batch", 1024, tile=16),
        reduced("in_features", 8192, tile=32),
        parallel("out_features", 8192, tile=32),
    ),
    x=("batch", "in_features"),
    substrates=(LANES,),
)
