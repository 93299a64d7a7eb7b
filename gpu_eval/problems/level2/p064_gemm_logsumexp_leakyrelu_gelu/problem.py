"""KernelBench level 2, problem 64: a linear layer, log-sum-exp, LeakyReLU twice, GELU twice."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    LeakyRelu,
    Linear,
    Reduce,
    fused_problem,
    gelu,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

ONE = "1"
PARTS = "ceil_div(out_features, 32)"

PARTIAL_LOGSUMEXP = Substrate(
    name="partial-logsumexp",
    source="partial_logsumexp.cu",
    headers=("fused_activations.cuh", "gemm_nt_stage.cuh", "limits.cuh", "warp_reduce.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("partial", f"2 * batch * {PARTS}"),),
        steps=(
            Launch(
                kernel="gemm_partial_logsumexp",
                grid=(PARTS, "ceil_div(batch, 16)", ONE),
                block=("64", ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("partial"),
                    int32("batch"),
                    int32("out_features"),
                    int32("in_features"),
                ),
            ),
            Launch(
                kernel="merge_leaky_gelu",
                grid=("ceil_div(batch, 4)", ONE, ONE),
                block=("32", "4", ONE),
                arguments=(
                    pointer("partial"),
                    pointer("y"),
                    int32("batch"),
                    int32(PARTS),
                    float32("negative_slope"),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    64,
    "64_Gemm_LogSumExp_LeakyReLU_LeakyReLU_GELU_GELU",
    (
        Linear(),
        Reduce("logsumexp"),
        LeakyRelu(0.01),
        LeakyRelu(0.01),
        gelu(),
        gelu(),
    ),
    dimensions=(
        parallel("batch", 1024, tile=16),
        reduced("in_features", 8192, tile=16),
        reduced("out_features", 8192, tile=32),
    ),
    x=("batch", "in_features"),
    scalars={"negative_slope": 0.01},
    substrates=(PARTIAL_LOGSUMEXP,),
)
