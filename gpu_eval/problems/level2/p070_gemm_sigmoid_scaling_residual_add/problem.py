"""KernelBench level 2, problem 70: a linear layer, its sigmoid scaled, and itself added again."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Keep,
    Linear,
    Residual,
    Scale,
    fused_problem,
    parallel,
    reduced,
    sigmoid,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, float32, int32, pointer

DOT_QUADS = Substrate(
    name="dot-quads",
    source="dot_quads.cu",
    headers=("fused_activations.cuh", "gemm_load.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="gemm_sigmoid_scale_residual",
                grid=("ceil_div(out_features, 32)", "ceil_div(batch, 32)", "1"),
                block=("8", "8", "1"),
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
    70,
    "70_Gemm_Sigmoid_Scaling_ResidualAdd",
    (Linear(), Keep("original"), sigmoid(), Scale(2.0), Residual("+", "original")),
    dimensions=(
        parallel("batch", 1024, tile=32),
        reduced("in_features", 8192, tile=16),
        parallel("out_features", 8192, tile=32),
    ),
    x=("batch", "in_features"),
    scalars={"scaling_factor": 2.0},
    substrates=(DOT_QUADS,),
)
