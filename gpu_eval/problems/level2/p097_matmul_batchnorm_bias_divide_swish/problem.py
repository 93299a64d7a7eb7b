"""KernelBench level 2, problem 97: a linear layer, BatchNorm in training mode, a bias, swish.

The benchmark divides by 1 in between.
"""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Linear,
    Normalise,
    WithParameter,
    divide,
    fused_problem,
    parallel,
    reduced,
    swish,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

ONE = "1"

FEATURE_MAJOR = Substrate(
    name="feature-major",
    source="feature_major.cu",
    headers=(
        "fused_activations.cuh",
        "gemm_fragment.cuh",
        "gemm_load.cuh",
        "gemm_nt_stage.cuh",
        "warp_reduce.cuh",
    ),
    plan=LaunchPlan(
        workspaces=(
            Workspace("hidden", "out_features * batch"),
            Workspace("means", "out_features"),
            Workspace("inverses", "out_features"),
        ),
        steps=(
            Launch(
                kernel="matmul_transposed",
                grid=("ceil_div(batch, 32)", "ceil_div(out_features, 32)", ONE),
                block=("8", "8", ONE),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("hidden"),
                    int32("batch"),
                    int32("out_features"),
                    int32("in_features"),
                ),
            ),
            Launch(
                kernel="feature_moments",
                grid=("ceil_div(out_features, 4)", ONE, ONE),
                block=("32", "4", ONE),
                arguments=(
                    pointer("hidden"),
                    pointer("means"),
                    pointer("inverses"),
                    int32("batch"),
                    int32("out_features"),
                    float32("eps"),
                ),
            ),
            Launch(
                kernel="batchnorm_bias_divide_swish",
                grid=("ceil_div(batch, 32)", "ceil_div(out_features, 32)", ONE),
                block=("32", "8", ONE),
                arguments=(
                    pointer("hidden"),
                    pointer("means"),
                    pointer("inverses"),
                    pointer("norm_weight"),
                    pointer("norm_bias"),
                    pointer("added_bias"),
                    pointer("y"),
                    int32("batch"),
                    int32("out_features"),
                    float32("divisor"),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    97,
    "97_Matmul_BatchNorm_BiasAdd_Divide_Swish",
    (
        Linear(),
        Normalise("batch"),
        WithParameter("+", "added_bias", ("1",)),
        divide(1.0),
        swish(),
    ),
    dimensions=(
        reduced("batch", 1024, tile=32, minimum=2),
        reduced("in_features", 8192, tile=16),
        parallel("out_features", 8192, tile=32),
    ),
    x=("batch", "in_features"),
    scalars={"eps": 1e-5, "divisor": 1.0},
    substrates=(FEATURE_MAJOR,),
)
