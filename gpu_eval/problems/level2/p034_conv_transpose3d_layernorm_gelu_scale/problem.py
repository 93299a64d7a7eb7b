"""KernelBench level 2, problem 34: a transposed convolution, LayerNorm, GELU, scaled.

LayerNorm is as wide as there are channels and normalises the last axis, which is as long.
"""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    ConvTranspose,
    Normalise,
    Scale,
    fused_problem,
    gelu,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

ONE = "1"
ROWS = "batch * out_channels * out_depth * out_height"

PLANE_PATCHES = Substrate(
    name="plane-patches",
    source="plane_patches.cu",
    headers=("fused_activations.cuh", "welford.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("hidden", f"{ROWS} * out_width"),),
        steps=(
            Launch(
                kernel="deconv4_slices",
                grid=(
                    "ceil_div(height, 8) * ceil_div(width, 8)",
                    "out_depth",
                    "batch * ceil_div(out_channels, 4)",
                ),
                block=("8", "8", ONE),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("hidden"),
                    int32("in_channels"),
                    int32("depth"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                ),
            ),
            Launch(
                kernel="layer_norm_gelu_scale",
                grid=(f"ceil_div({ROWS}, 8)", ONE, ONE),
                block=("32", "8", ONE),
                arguments=(
                    pointer("hidden"),
                    pointer("norm_weight"),
                    pointer("norm_bias"),
                    pointer("y"),
                    int32(ROWS),
                    int32("out_width"),
                    float32("eps"),
                    float32("scaling_factor"),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    34,
    "34_ConvTranspose3d_LayerNorm_GELU_Scaling",
    (
        ConvTranspose(3, 4, stride=2, padding=1),
        Normalise("last", eps=1e-5),
        gelu(),
        Scale(1.0),
    ),
    dimensions=(
        parallel("batch", 32),
        reduced("in_channels", 32),
        parallel("depth", 16, minimum=2),
        parallel("height", 32, tile=8, minimum=2),
        reduced("width", 32, tile=8, minimum=2),
        parallel("out_channels", 64, tile=4),
    ),
    x=("batch", "in_channels", "depth", "height", "width"),
    scalars={"eps": 1e-5, "scaling_factor": 1.0},
    substrates=(PLANE_PATCHES,),
)
