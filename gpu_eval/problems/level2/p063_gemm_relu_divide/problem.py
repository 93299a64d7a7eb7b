"""KernelBench level 2, problem 63: a linear layer, ReLU, divided by a number."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Linear,
    divide,
    fused_problem,
    parallel,
    reduced,
    relu,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, float32, int32, pointer

WARP_TILES = Substrate(
    name="warp-tiles",
    source="warp_tiles.cu",
    headers=("fused_activations.cuh", "gemm_load.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="linear_relu_divide",
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
                    float32("divisor"),
                ),
            ),
        )
    ),
)

PROBLEM = fused_problem(
    63,
    "63_Gemm_ReLU_Divide",
    (Linear(), relu(), divide(2.0)),
    dimensions=(
        parallel("batch", 1024, tile=32),
        reduced("in_features", 8192, tile=16),
        parallel("out_features", 8192, tile=32),
    ),
    x=("batch", "in_features"),
    scalars={"divisor": 2.0},
    substrates=(WARP_TILES,),
)
