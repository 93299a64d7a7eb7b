"""KernelBench level 2, problem 30: a linear layer, GroupNorm in 16 groups, hardtanh."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Clamp,
    Linear,
    Normalise,
    fixed,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

ONE = "1"

THREE_LAUNCHES = Substrate(
    name="three-launches",
    source="three_launches.cu",
    headers=("warp_reduce.cuh", "fused_activations.cuh"),
    plan=LaunchPlan(
        workspaces=(
            Workspace("hidden", "batch * out_features"),
            Workspace("means", "batch * groups"),
            Workspace("inverses", "batch * groups"),
        ),
        steps=(
            Launch(
                kernel="linear_tiled",
                grid=("ceil_div(out_features, 32)", "ceil_div(batch, 16)", ONE),
                block=("32", "8", ONE),
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
                kernel="group_statistics",
                grid=("ceil_div(batch * groups, 4)", ONE, ONE),
                block=("32", "4", ONE),
                arguments=(
                    pointer("hidden"),
                    pointer("means"),
                    pointer("inverses"),
                    int32("batch * groups"),
                    int32("width"),
                    float32("eps"),
                ),
            ),
            Launch(
                kernel="group_apply_hardtanh",
                grid=("ceil_div(out_features, 128)", "batch", ONE),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("hidden"),
                    pointer("means"),
                    pointer("inverses"),
                    pointer("norm_weight"),
                    pointer("norm_bias"),
                    pointer("y"),
                    int32("out_features"),
                    int32("groups"),
                    int32("width"),
                    float32("low"),
                    float32("high"),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    30,
    "30_Gemm_GroupNorm_Hardtanh",
    (Linear(), Normalise("group", groups=16), Clamp(-2.0, 2.0)),
    dimensions=(
        parallel("batch", 1024, tile=16),
        reduced("in_features", 8192, tile=32),
        fixed("groups", 16),
        # 16 groups of a multiple of 8 keep the tails of 32 columns and of 128 threads.
        reduced("width", 512, tile=8, minimum=2),
    ),
    derived={"out_features": "groups * width"},
    x=("batch", "in_features"),
    scalars={"eps": 1e-5, "low": -2.0, "high": 2.0},
    substrates=(THREE_LAUNCHES,),
)
