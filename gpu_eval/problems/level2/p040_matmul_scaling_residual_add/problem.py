"""KernelBench level 2, problem 40: a linear layer, scaled, and what it was added again."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Keep,
    Linear,
    Residual,
    Scale,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, float32, int32, pointer

SWIZZLED = Substrate(
    name="swizzled",
    source="swizzled.cu",
    headers=("gemm_fragment.cuh", "gemm_nt_stage.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="matmul_scale_residual",
                grid=("ceil_div(batch, 32) * ceil_div(out_features, 32)", "1", "1"),
                block=("64", "1", "1"),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("y"),
                    int32("batch"),
                    int32("out_features"),
                    int32("in_features"),
                    float32("scaling_factor"),
                ),
            ),
        )
    ),
)

PROBLEM = fused_problem(
    40,
    "40_Matmul_Scaling_ResidualAdd",
    (Linear(), Keep("original"), Scale(0.5), Residual("+", "original")),
    dimensions=(
        parallel("batch", 16384, tile=32),
        reduced("in_features", 4096, tile=16),
        parallel("out_features", 4096, tile=32),
    ),
    x=("batch", "in_features"),
    scalars={"scaling_factor": 0.5},
    substrates=(SWIZZLED,),
)
