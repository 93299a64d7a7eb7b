"""KernelBench level 2, problem 10: a transposed convolution, max-pooled, hardtanh, mean, tanh."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Clamp,
    ConvTranspose,
    Pool,
    fused_problem,
    global_average,
    parallel,
    reduced,
    tanh,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

ONE = "1"
PLANES = "batch * out_channels"
TILES = "ceil_div(pool_height, 4) * ceil_div(pool_width, 16)"

POOLED_WINDOWS = Substrate(
    name="pooled-windows",
    source="pooled_windows.cu",
    headers=("block_reduce.cuh", "fused_activations.cuh", "pool_nan.cuh", "warp_reduce.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("partial", f"{PLANES} * {TILES}"),),
        steps=(
            Launch(
                kernel="deconv_max_hardtanh",
                grid=(TILES, "ceil_div(out_channels, 2)", "batch"),
                block=("64", ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("partial"),
                    int32("in_channels"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                    int32("pool_height"),
                    int32("pool_width"),
                    float32("hardtanh_min"),
                    float32("hardtanh_max"),
                ),
            ),
            Launch(
                kernel="average_tanh",
                grid=(f"ceil_div({PLANES}, 4)", ONE, ONE),
                block=("32", "4", ONE),
                arguments=(
                    pointer("partial"),
                    pointer("y"),
                    int32(PLANES),
                    int32(TILES),
                    int32("pool_height * pool_width"),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    10,
    "10_ConvTranspose2d_MaxPool_Hardtanh_Mean_Tanh",
    (
        ConvTranspose(2, 3, padding=1),
        Pool("max", 2, 2),
        Clamp(-1.0, 1.0),
        global_average(2),
        tanh(),
    ),
    # 4 x 16 windows a block.
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 64),
        reduced("height", 256, tile=8, minimum=2),
        reduced("width", 256, tile=32, minimum=2),
        parallel("out_channels", 64, tile=2),
    ),
    x=("batch", "in_channels", "height", "width"),
    scalars={"hardtanh_min": -1.0, "hardtanh_max": 1.0},
    substrates=(POOLED_WINDOWS,),
)
