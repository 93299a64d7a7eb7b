"""KernelBench level 2, problem 53: a linear layer, scaled, hardtanh, GELU."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Clamp,
    Linear,
    Scale,
    fused_problem,
    gelu,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, float32, int32, pointer

ONE = "1"
LINEAR = (
    pointer("x"),
    pointer("weight"),
    pointer("bias"),
    pointer("y"),
    int32("batch"),
    int32("out_features"),
    int32("in_features"),
)
EPILOGUE = (float32("scaling_factor"), float32("hardtanh_min"), float32("hardtanh_max"))

DOUBLE_BUFFERED = Substrate(
    name="double-buffered",
    source="double_buffered.cu",
    headers=("fused_activations.cuh", "gemm_fragment.cuh", "gemm_load.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="gemm_scale_hardtanh_gelu",
                grid=("ceil_div(out_features, 32)", "ceil_div(batch, 32)", ONE),
                block=("8", "8", ONE),
                arguments=(*LINEAR, *EPILOGUE),
            ),
        )
    ),
)

TWO_LAUNCHES = Substrate(
    name="two-launches",
    source="two_launches.cu",
    headers=("fused_activations.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="linear_tile",
                grid=("ceil_div(out_features, 16)", "ceil_div(batch, 16)", ONE),
                block=("16", "16", ONE),
                arguments=LINEAR,
            ),
            Launch(
                kernel="scale_hardtanh_gelu",
                # At most 1,056 blocks, eight for each of 132 multiprocessors.
                grid=("min(ceil_div(batch * out_features, 256), 1056)", ONE, ONE),
                block=("256", ONE, ONE),
                arguments=(pointer("y"), int32("batch * out_features"), *EPILOGUE),
            ),
        )
    ),
)

PROBLEM = fused_problem(
    53,
    "53_Gemm_Scaling_Hardtanh_GELU",
    (Linear(), Scale(0.5), Clamp(-2.0, 2.0), gelu()),
    dimensions=(
        parallel("batch", 2048, tile=32),
        reduced("in_features", 8192, tile=16),
        parallel("out_features", 8192, tile=32),
    ),
    x=("batch", "in_features"),
    scalars={"scaling_factor": 0.5, "hardtanh_min": -2.0, "hardtanh_max": 2.0},
    substrates=(DOUBLE_BUFFERED, TWO_LAUNCHES),
)
