"""KernelBench level 2, problem 90: a convolution, LeakyReLU, a summand, a clamp, GELU."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Clamp,
    Conv,
    LeakyRelu,
    WithParameter,
    fused_problem,
    gelu,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

VOXELS = "out_depth * out_height * out_width"
EXTENTS = (int32("depth"), int32("height"), int32("width"))
OUTPUT = (
    int32("out_channels"),
    int32("out_depth"),
    int32("out_height"),
    int32("out_width"),
)
EPILOGUE = (float32("negative_slope"), float32("low"), float32("high"))

PATCHES = Substrate(
    name="patches",
    source="patches.cu",
    headers=("fused_activations.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv3d_leaky_add_clamp_gelu",
                grid=(
                    "ceil_div(out_width, 8)",
                    "ceil_div(out_height, 8)",
                    "batch * ceil_div(out_channels, 8) * out_depth",
                ),
                block=("2", "4", "8"),
                shared="8 * in_channels * 27 * 4",
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("summand"),
                    pointer("y"),
                    int32("in_channels"),
                    *EXTENTS,
                    *OUTPUT,
                    *EPILOGUE,
                ),
            ),
        )
    ),
)

TWO_LAUNCHES = Substrate(
    name="two-launches",
    source="two_launches.cu",
    headers=("conv_vector.cuh", "fused_activations.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("hidden", f"batch * out_channels * {VOXELS}"),),
        steps=(
            Launch(
                kernel="conv3d_double_buffered",
                grid=(f"ceil_div({VOXELS}, 64)", "ceil_div(out_channels, 16)", "batch"),
                block=("128", "1", "1"),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("hidden"),
                    int32("in_channels * 27"),
                    *EXTENTS,
                    *OUTPUT,
                ),
            ),
            Launch(
                kernel="leaky_add_clamp_gelu",
                grid=(f"min(ceil_div({VOXELS}, 256), 16)", "batch * out_channels", "1"),
                block=("64", "1", "1"),
                arguments=(
                    pointer("hidden"),
                    pointer("bias"),
                    pointer("summand"),
                    pointer("y"),
                    int32("out_channels"),
                    int32(VOXELS),
                    *EPILOGUE,
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    90,
    "90_Conv3d_LeakyReLU_Sum_Clamp_GELU",
    (
        Conv(3, 3),
        LeakyRelu(0.2),
        WithParameter("+", "summand", ("out_channels", "1", "1", "1")),
        Clamp(-1.0, 1.0),
        gelu(),
    ),
    # 62 rows and columns leave six of the last eight; the last 64 voxels are never all there.
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 8),
        parallel("depth", 16, tile=4, minimum=3),
        parallel("height", 64, tile=8, minimum=3),
        parallel("width", 64, tile=8, minimum=3),
        parallel("out_channels", 64, tile=16),
    ),
    x=("batch", "in_channels", "depth", "height", "width"),
    scalars={"negative_slope": 0.2, "low": -1.0, "high": 1.0},
    substrates=(PATCHES, TWO_LAUNCHES),
)
