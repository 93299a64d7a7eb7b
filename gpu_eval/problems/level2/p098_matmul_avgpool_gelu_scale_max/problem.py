"""KernelBench level 2, problem 98: a linear layer, means of 16 features, GELU, scaled, maximum."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Linear,
    Pool,
    Reduce,
    Scale,
    fused_problem,
    gelu,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

ONE = "1"
PARTS = "ceil_div(out_features, 64)"

POOLED_OUTPUTS = Substrate(
    name="pooled-outputs",
    source="pooled_outputs.cu",
    headers=("fused_activations.cuh", "gemm_load.cuh", "limits.cuh", "pool_nan.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("partial", f"{PARTS} * batch"),),
        steps=(
            Launch(
                kernel="matmul_pool_gelu_scale_max",
                grid=(PARTS, "ceil_div(batch, 16)", ONE),
                block=("16", "16", ONE),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("partial"),
                    int32("batch"),
                    int32("out_features"),
                    int32("in_features"),
                    int32("pool_features"),
                    float32("scale_factor"),
                ),
            ),
            Launch(
                kernel="row_max",
                grid=("ceil_div(batch, 32)", ONE, ONE),
                block=("32", "4", ONE),
                arguments=(pointer("partial"), pointer("y"), int32("batch"), int32(PARTS)),
            ),
        ),
    ),
)

POOLED_WEIGHTS = Substrate(
    name="pooled-weights",
    source="pooled_weights.cu",
    headers=("fused_activations.cuh", "limits.cuh", "pool_nan.cuh"),
    plan=LaunchPlan(
        workspaces=(
            Workspace("pooled_weight", "pool_features * in_features"),
            Workspace("pooled_bias", "pool_features"),
        ),
        steps=(
            Launch(
                kernel="pool_rows",
                grid=("ceil_div(in_features, 128)", "pool_features", ONE),
                block=("128", ONE, ONE),
                arguments=(pointer("weight"), pointer("pooled_weight"), int32("in_features")),
            ),
            Launch(
                kernel="pool_rows",
                grid=(ONE, "pool_features", ONE),
                block=("32", ONE, ONE),
                arguments=(pointer("bias"), pointer("pooled_bias"), int32(ONE)),
            ),
            Launch(
                kernel="matmul_gelu_scale_max",
                grid=("ceil_div(batch, 8)", ONE, ONE),
                block=("32", "4", ONE),
                arguments=(
                    pointer("x"),
                    pointer("pooled_weight"),
                    pointer("pooled_bias"),
                    pointer("y"),
                    int32("batch"),
                    int32("pool_features"),
                    int32("in_features"),
                    float32("scale_factor"),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    98,
    "98_Matmul_AvgPool_GELU_Scale_Max",
    (Linear(), Pool("mean", 1, 16), gelu(), Scale(2.0), Reduce("max", (1,), keep=False)),
    dimensions=(
        parallel("batch", 1024, tile=16),
        reduced("in_features", 8192, tile=32),
        # 64 features are four windows; a window at least.
        reduced("out_features", 8192, tile=64, minimum=16),
    ),
    x=("batch", "in_features"),
    scalars={"scale_factor": 2.0},
    substrates=(POOLED_OUTPUTS, POOLED_WEIGHTS),
)
