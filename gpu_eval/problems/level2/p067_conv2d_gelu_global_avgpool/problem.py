"""KernelBench level 2, problem 67: a 3 x 3 convolution, GELU, the mean of each plane."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Conv,
    Reduce,
    fused_problem,
    gelu,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, int32, pointer

PIXELS = "out_height * out_width"
PLANES = "batch * out_channels"
# Four tiles of 32 pixels a block, more in large images.
PARTS = f"min(ceil_div({PIXELS}, 128), 48)"

BLOCK_A_PLANE = Substrate(
    name="block-a-plane",
    source="block_a_plane.cu",
    headers=("fused_activations.cuh", "tree_reduce.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv2d_gelu_mean",
                grid=("out_channels", "batch", "1"),
                block=("128", "1", "1"),
                shared="in_channels * 9 * 4",
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("y"),
                    int32("in_channels"),
                    int32("height"),
                    int32("width"),
                    int32("out_height"),
                    int32("out_width"),
                ),
            ),
        )
    ),
)

STRIDED_TILES = Substrate(
    name="strided-tiles",
    source="strided_tiles.cu",
    headers=("fused_activations.cuh", "warp_reduce.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("partial", f"{PLANES} * {PARTS}"),),
        steps=(
            Launch(
                kernel="conv2d_gelu_partial",
                grid=(PARTS, "ceil_div(out_channels, 16)", "batch"),
                block=("32", "4", "1"),
                shared="in_channels * 9 * 16 * 4",
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("partial"),
                    int32("in_channels"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                    int32("out_height"),
                    int32("out_width"),
                ),
            ),
            Launch(
                kernel="mean_of_partials",
                grid=(f"ceil_div({PLANES}, 4)", "1", "1"),
                block=("32", "4", "1"),
                arguments=(
                    pointer("partial"),
                    pointer("y"),
                    int32(PLANES),
                    int32(PARTS),
                    int32(PIXELS),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    67,
    "67_Conv2d_GELU_GlobalAvgPool",
    (Conv(2, 3), gelu(), Reduce("mean", (2, 3), keep=False)),
    # 254 x 254 pixels leave 4 over in steps of 128 threads; multiples of 8 keep such a tail.
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 8),
        reduced("height", 256, tile=8, minimum=3),
        reduced("width", 256, tile=8, minimum=3),
        parallel("out_channels", 64),
    ),
    x=("batch", "in_channels", "height", "width"),
    substrates=(BLOCK_A_PLANE, STRIDED_TILES),
)
