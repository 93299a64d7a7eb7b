"""KernelBench level 2, problem 81: a linear layer, swish, a division, tanh between two clamps."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Clamp,
    Linear,
    divide,
    fused_problem,
    parallel,
    reduced,
    swish,
    tanh,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, float32, int32, pointer

SLICE_K = Substrate(
    name="slice-k",
    source="slice_k.cu",
    headers=("fused_activations.cuh", "gemm_fragment.cuh", "gemm_nt_stage.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="gemm_swish_divide_clamp_tanh_clamp",
                grid=("ceil_div(out_features, 32)", "ceil_div(batch, 32)", "1"),
                block=("8", "8", "2"),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("y"),
                    int32("batch"),
                    int32("out_features"),
                    int32("in_features"),
                    float32("divisor"),
                    float32("low"),
                    float32("high"),
                ),
            ),
        )
    ),
)

PROBLEM = fused_problem(
    81,
    "81_Gemm_Swish_Divide_Clamp_Tanh_Clamp",
    (Linear(), swish(), divide(2.0), Clamp(-1.0, 1.0), tanh(), Clamp(-1.0, 1.0)),
    dimensions=(
        parallel("batch", 1024, tile=32),
        # Slices of 16 terms go to two teams in turn.
        reduced("in_features", 8192, tile=32),
        parallel("out_features", 8192, tile=32),
    ),
    x=("batch", "in_features"),
    scalars={"divisor": 2.0, "low": -1.0, "high": 1.0},
    substrates=(SLICE_K,),
)
