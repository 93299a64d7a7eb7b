"""KernelBench level 2, problem 86: a linear layer, divided by a number, then GELU."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Linear,
    divide,
    fused_problem,
    gelu,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, float32, int32, pointer

WARP_TILES = Substrate(
    name="warp-tiles",
    source="warp_tiles.cu",
    headers=("fused_activations.cuh", "gemm_load.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="matmul_divide_gelu",
                grid=("ceil_div(out_features, 64)", "ceil_div(batch, 32)", "1"),
                block=("128", "1", "1"),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("y"),
                    int32("batch"),
                    int32("out_features"),
                    int32("in_features"),
                    float32("divisor"),
                ),
            ),
        )
    ),
)

PROBLEM = fused_problem(
    86,
    "86_Matmul_Divide_GELU",
    (Linear(), divide(10.0), gelu()),
    dimensions=(
        parallel("batch", 1024, tile=32),
        reduced("in_features", 8192, tile=8),
        parallel("out_features", 8192, tile=64),
    ),
    x=("batch", "in_features"),
    scalars={"divisor": 10.0},
    substrates=(WARP_TILES,),
)
