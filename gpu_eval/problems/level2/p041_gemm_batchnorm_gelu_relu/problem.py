"""KernelBench level 2, problem 41: a linear layer, BatchNorm in training mode, GELU, ReLU."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Linear,
    Normalise,
    fused_problem,
    gelu,
    parallel,
    reduced,
    relu,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

ONE = "1"

THREE_LAUNCHES = Substrate(
    name="three-launches",
    source="three_launches.cu",
    headers=("fused_activations.cuh", "gemm_fragment.cuh", "gemm_nt_stage.cuh"),
    plan=LaunchPlan(
        workspaces=(
            Workspace("hidden", "batch * out_features"),
            Workspace("means", "out_features"),
            Workspace("variances", "out_features"),
        ),
        steps=(
            Launch(
                kernel="gemm_bias",
                grid=("ceil_div(batch, 64)", "ceil_div(out_features, 16)", ONE),
                block=("128", ONE, ONE),
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
                kernel="column_moments",
                grid=("ceil_div(out_features, 32)", ONE, ONE),
                block=("32", "8", ONE),
                arguments=(
                    pointer("hidden"),
                    pointer("means"),
                    pointer("variances"),
                    int32("batch"),
                    int32("out_features"),
                ),
            ),
            Launch(
                kernel="normalise_gelu_relu",
                grid=("min(ceil_div(batch * out_features, 256), 2048)", ONE, ONE),
                block=("256", ONE, ONE),
                arguments=(
                    pointer("hidden"),
                    pointer("means"),
                    pointer("variances"),
                    pointer("norm_weight"),
                    pointer("norm_bias"),
                    pointer("y"),
                    int32("batch * out_features"),
                    int32("out_features"),
                    float32("eps"),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    41,
    "41_Gemm_BatchNorm_GELU_ReLU",
    (Linear(), Normalise("batch"), gelu(), relu()),
    # 16 columns, half a warp of the moments' kernel: more cost too much with all rows of the batch.
    dimensions=(
        reduced("batch", 16384, tile=64, minimum=2),
        reduced("in_features", 4096, tile=16),
        parallel("out_features", 4096, tile=16),
    ),
    x=("batch", "in_features"),
    scalars={"eps": 1e-5},
    substrates=(THREE_LAUNCHES,),
)
