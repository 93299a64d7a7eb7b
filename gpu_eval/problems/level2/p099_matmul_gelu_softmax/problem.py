"""KernelBench level 2, problem 99: a linear layer, GELU, softmax of the rows."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Linear,
    Softmax,
    fused_problem,
    gelu,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, int32, pointer

ONE = "1"
TILES = "ceil_div(out_features, 64)"
LINEAR = (pointer("x"), pointer("weight"), pointer("bias"), pointer("y"))
SIZES = (int32("batch"), int32("out_features"), int32("in_features"))

TILE_STATISTICS = Substrate(
    name="tile-statistics",
    source="tile_statistics.cu",
    headers=(
        "fused_activations.cuh",
        "gemm_fragment.cuh",
        "gemm_load.cuh",
        "limits.cuh",
        "warp_reduce.cuh",
    ),
    plan=LaunchPlan(
        workspaces=(
            Workspace("tops", f"batch * {TILES}"),
            Workspace("sums", f"batch * {TILES}"),
        ),
        steps=(
            Launch(
                kernel="matmul_gelu_statistics",
                grid=(TILES, "ceil_div(batch, 16)", ONE),
                block=("16", "8", ONE),
                arguments=(*LINEAR, pointer("tops"), pointer("sums"), *SIZES),
            ),
            Launch(
                kernel="softmax_from_statistics",
                grid=("min(ceil_div(out_features, 64), 16)", "batch", ONE),
                block=("64", ONE, ONE),
                arguments=(
                    pointer("tops"),
                    pointer("sums"),
                    pointer("y"),
                    int32("out_features"),
                    int32(TILES),
                ),
            ),
        ),
    ),
)

ONE_LAUNCH = Substrate(
    name="one-launch",
    source="one_launch.cu",
    headers=("fused_activations.cuh", "limits.cuh", "softmax_running.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="matmul_gelu_softmax",
                grid=("ceil_div(batch, 8)", ONE, ONE),
                block=("32", "4", ONE),
                arguments=(*LINEAR, *SIZES),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    99,
    "99_Matmul_GELU_Softmax",
    (Linear(), gelu(), Softmax((1,))),
    dimensions=(
        parallel("batch", 1024, tile=16),
        reduced("in_features", 8192, tile=32),
        reduced("out_features", 8192, tile=64),
    ),
    x=("batch", "in_features"),
    substrates=(TILE_STATISTICS, ONE_LAUNCH),
)
