"""KernelBench level 2, problem 9: a linear layer, less a number, times another, then ReLU."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Linear,
    Scale,
    fused_problem,
    parallel,
    reduced,
    relu,
    subtract,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, float32, int32, pointer

QUADS = Substrate(
    name="quads",
    source="quads.cu",
    headers=("fused_activations.cuh", "gemm_load.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="matmul_subtract_multiply_relu",
                grid=("ceil_div(out_features, 32)", "ceil_div(batch, 32)", "1"),
                block=("128", "1", "1"),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("y"),
                    int32("batch"),
                    int32("out_features"),
                    int32("in_features"),
                    float32("subtract_value"),
                    float32("multiply_value"),
                ),
            ),
        )
    ),
)

PROBLEM = fused_problem(
    9,
    "9_Matmul_Subtract_Multiply_ReLU",
    (Linear(), subtract(2.0), Scale(1.5), relu()),
    dimensions=(
        parallel("batch", 1024, tile=32),
        reduced("in_features", 8192, tile=16),
        parallel("out_features", 8192, tile=32),
    ),
    x=("batch", "in_features"),
    scalars={"subtract_value": 2.0, "multiply_value": 1.5},
    substrates=(QUADS,),
)
