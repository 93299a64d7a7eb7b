"""KernelBench level 1, problem 68: a 3 x 5 x 5 transposed convolution of cubes."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.convolution_transposed import Axis, TransposedConvolution
from gpu_eval.problems.families.convolution_transposed_problem import (
    ONE,
    in_channels,
    integers,
    launch,
    out_channels,
    problem,
)
from gpu_eval.problems.plan import LaunchPlan, Workspace, int32, int64, pointer

SPLITS = 4
OUTPUTS = "batch * out_channels * out_depth * out_height * out_width"

# 32 voxels a block, which (4 m + 2) x (4 n + 4) x (4 k + 4) are always a multiple of.
OPERATION = TransposedConvolution(
    (
        Axis("depth", 64, kernel=3, tile=4),
        Axis("height", 64, kernel=5, tile=4),
        Axis("width", 64, kernel=5, tile=4),
    )
)
SIZES = integers("in_channels depth height width out_channels out_depth out_height out_width")
VOXELS = "out_depth * out_height * out_width"

WARP_SPLIT = Substrate(
    name="warp-split",
    source="warp_split.cu",
    plan=LaunchPlan(
        steps=(
            launch(
                "conv_transpose3d_warp_split",
                (f"ceil_div({VOXELS}, 32)", "ceil_div(out_channels, 4)", "batch"),
                ("32", "4", ONE),
                pointer("x"),
                pointer("weight"),
                pointer("y"),
                *SIZES,
            ),
        )
    ),
)

SPLIT_CHANNELS = Substrate(
    name="split-channels",
    source="split_channels.cu",
    plan=LaunchPlan(
        workspaces=(Workspace("partial", f"{SPLITS} * {OUTPUTS}"),),
        steps=(
            launch(
                "conv_transpose3d_partial",
                (
                    f"ceil_div({VOXELS}, 32)",
                    "ceil_div(out_channels, 4)",
                    f"batch * {SPLITS}",
                ),
                ("32", "4", ONE),
                pointer("x"),
                pointer("weight"),
                pointer("partial"),
                *SIZES,
                *integers("kernel_depth kernel_height kernel_width"),
                int32(f"{SPLITS}"),
                int64(OUTPUTS),
            ),
            launch(
                "conv_transpose3d_combine",
                (f"ceil_div({OUTPUTS}, 256)", ONE, ONE),
                ("256", ONE, ONE),
                pointer("partial"),
                pointer("y"),
                int32(f"{SPLITS}"),
                int64(OUTPUTS),
            ),
        ),
    ),
)

PROBLEM = problem(
    68,
    "68_conv_transposed_3D__square_input__asymmetric_kernel",
    OPERATION,
    batch=16,
    in_channels=in_channels(32, tile=4),
    out_channels=out_channels(64, tile=4),
    substrates=(WARP_SPLIT, SPLIT_CHANNELS),
    controls=OPERATION.controls(WARP_SPLIT),
)
