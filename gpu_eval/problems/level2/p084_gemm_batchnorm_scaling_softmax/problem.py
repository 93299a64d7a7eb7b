"""KernelBench level 2, problem 84: a linear layer, BatchNorm in training mode, a scale, softmax."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Linear,
    Normalise,
    Softmax,
    WithParameter,
    fused_problem,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

ONE = "1"

FOLDED_MOMENTS = Substrate(
    name="folded-moments",
    source="folded_moments.cu",
    headers=("gemm_load.cuh", "limits.cuh", "softmax_running.cuh", "welford.cuh"),
    plan=LaunchPlan(
        workspaces=(
            Workspace("hidden", "batch * out_features"),
            Workspace("gains", "out_features"),
            Workspace("offsets", "out_features"),
        ),
        steps=(
            Launch(
                kernel="gemm_quads",
                grid=("ceil_div(out_features, 32)", "ceil_div(batch, 32)", ONE),
                block=("16", "16", ONE),
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
                kernel="fold_moments",
                grid=("ceil_div(out_features, 32)", ONE, ONE),
                block=("32", "8", ONE),
                arguments=(
                    pointer("hidden"),
                    pointer("norm_weight"),
                    pointer("norm_bias"),
                    pointer("gains"),
                    pointer("offsets"),
                    int32("batch"),
                    int32("out_features"),
                    float32("eps"),
                ),
            ),
            Launch(
                kernel="normalise_scale_softmax",
                grid=("batch", ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("hidden"),
                    pointer("gains"),
                    pointer("offsets"),
                    pointer("scale"),
                    pointer("y"),
                    int32("out_features"),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    84,
    "84_Gemm_BatchNorm_Scaling_Softmax",
    (Linear(), Normalise("batch"), WithParameter("*", "scale", ("1",), start=1.0), Softmax((1,))),
    dimensions=(
        reduced("batch", 1024, tile=32, minimum=2),
        reduced("in_features", 8192, tile=32),
        reduced("out_features", 8192, tile=32),
    ),
    x=("batch", "in_features"),
    scalars={"eps": 1e-5},
    substrates=(FOLDED_MOMENTS,),
)
