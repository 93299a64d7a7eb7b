"""KernelBench level 2, problem 39: problem 33's operations with sixteen times as many rows."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Linear,
    Normalise,
    WithParameter,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

ONE = "1"
TILES = "ceil_div(batch, 64)"

TILE_MOMENTS = Substrate(
    name="tile-moments",
    source="tile_moments.cu",
    headers=("welford.cuh",),
    plan=LaunchPlan(
        workspaces=(
            Workspace("hidden", "batch * out_features"),
            Workspace("tile_means", f"out_features * {TILES}"),
            Workspace("tile_squares", f"out_features * {TILES}"),
            Workspace("means", "out_features"),
            Workspace("inverses", "out_features"),
        ),
        steps=(
            Launch(
                kernel="gemm_scale_moments",
                grid=("ceil_div(out_features, 16)", TILES, ONE),
                block=("16", "16", ONE),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("scale"),
                    pointer("hidden"),
                    pointer("tile_means"),
                    pointer("tile_squares"),
                    int32("batch"),
                    int32("out_features"),
                    int32("in_features"),
                ),
            ),
            Launch(
                kernel="merge_moments",
                grid=("ceil_div(out_features, 4)", ONE, ONE),
                block=("32", "4", ONE),
                arguments=(
                    pointer("tile_means"),
                    pointer("tile_squares"),
                    pointer("means"),
                    pointer("inverses"),
                    int32("out_features"),
                    int32(TILES),
                    int32("batch"),
                    float32("eps"),
                ),
            ),
            Launch(
                kernel="standardise",
                grid=("ceil_div(out_features, 64)", "min(batch, 256)", ONE),
                block=("64", ONE, ONE),
                arguments=(
                    pointer("hidden"),
                    pointer("means"),
                    pointer("inverses"),
                    pointer("norm_weight"),
                    pointer("norm_bias"),
                    pointer("y"),
                    int32("batch"),
                    int32("out_features"),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    39,
    "39_Gemm_Scale_BatchNorm",
    (Linear(), WithParameter("*", "scale", ("out_features",)), Normalise("batch")),
    dimensions=(
        reduced("batch", 16384, tile=64, minimum=2),
        reduced("in_features", 4096, tile=16),
        parallel("out_features", 4096, tile=16),
    ),
    x=("batch", "in_features"),
    scalars={"eps": 1e-5},
    substrates=(TILE_MOMENTS,),
)
