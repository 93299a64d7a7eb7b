"""KernelBench level 2, problem 59: a linear layer with few rows, swish, scaled."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Linear,
    Scale,
    fused_problem,
    parallel,
    reduced,
    swish,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, float32, int32, pointer

ARGUMENTS = (
    pointer("x"),
    pointer("weight"),
    pointer("bias"),
    pointer("y"),
    int32("batch"),
    int32("out_features"),
    int32("in_features"),
    float32("scaling_factor"),
)

SLICED_K = Substrate(
    name="sliced-k",
    source="sliced_k.cu",
    headers=("fused_activations.cuh", "gemm_fragment.cuh", "gemm_nt_stage.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="matmul_swish_scale",
                grid=("ceil_div(out_features, 32)", "ceil_div(batch, 16)", "1"),
                block=("128", "1", "1"),
                arguments=ARGUMENTS,
            ),
        )
    ),
)

WARP_DOTS = Substrate(
    name="warp-dots",
    source="warp_dots.cu",
    headers=("fused_activations.cuh", "gemm_load.cuh", "warp_reduce.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="warp_dots_swish_scale",
                grid=("ceil_div(out_features, 4)", "ceil_div(batch, 8)", "1"),
                block=("32", "4", "1"),
                arguments=ARGUMENTS,
            ),
        )
    ),
)

PROBLEM = fused_problem(
    59,
    "59_Matmul_Swish_Scaling",
    (Linear(), swish(), Scale(2.0)),
    dimensions=(
        parallel("batch", 128, tile=16),
        reduced("in_features", 32768, tile=128),
        parallel("out_features", 32768, tile=32),
    ),
    x=("batch", "in_features"),
    scalars={"scaling_factor": 2.0},
    substrates=(SLICED_K, WARP_DOTS),
)
