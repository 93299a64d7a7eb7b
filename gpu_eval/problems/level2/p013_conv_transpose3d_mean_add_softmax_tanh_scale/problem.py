"""KernelBench level 2, problem 13: a transposed convolution, its mean along the depth, softmax."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    ConvTranspose,
    Reduce,
    Scale,
    Softmax,
    WithParameter,
    fused_problem,
    parallel,
    reduced,
    tanh,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

ONE = "1"
PIXELS = "height * width"

COLLAPSED = Substrate(
    name="collapsed",
    source="collapsed.cu",
    headers=("limits.cuh",),
    plan=LaunchPlan(
        workspaces=(Workspace("sums", f"batch * in_channels * 3 * {PIXELS}"),),
        steps=(
            Launch(
                kernel="depth_sums",
                grid=(f"ceil_div({PIXELS}, 64)", "in_channels", "batch"),
                block=("64", ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("sums"),
                    int32("in_channels"),
                    int32("depth"),
                    int32(PIXELS),
                ),
            ),
            Launch(
                kernel="deconv_planes_softmax_tanh",
                grid=(f"ceil_div({PIXELS}, 64)", "batch", ONE),
                block=("64", ONE, ONE),
                arguments=(
                    pointer("sums"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("mean_bias"),
                    pointer("y"),
                    int32("in_channels"),
                    int32("depth"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                    float32("scaling_factor"),
                ),
                shared="in_channels * 27 * 8 * 4",
            ),
        ),
    ),
)

THREE_LAUNCHES = Substrate(
    name="three-launches",
    source="three_launches.cu",
    headers=("limits.cuh",),
    plan=LaunchPlan(
        workspaces=(Workspace("hidden", f"batch * out_channels * depth * {PIXELS}"),),
        steps=(
            Launch(
                kernel="deconv_depth_runs",
                grid=(
                    f"ceil_div({PIXELS}, 64)",
                    "ceil_div(depth, 4)",
                    "batch * ceil_div(out_channels, 2)",
                ),
                block=("64", ONE, ONE),
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
                shared="in_channels * 27 * 2 * 4",
            ),
            Launch(
                kernel="depth_mean_add",
                grid=(f"ceil_div({PIXELS}, 128)", "out_channels", "batch"),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("hidden"),
                    pointer("mean_bias"),
                    pointer("y"),
                    int32("out_channels"),
                    int32("depth"),
                    int32(PIXELS),
                ),
            ),
            Launch(
                kernel="softmax_tanh_scale",
                grid=(f"ceil_div({PIXELS}, 32)", "batch", ONE),
                block=("32", "8", ONE),
                arguments=(
                    pointer("y"),
                    int32("out_channels"),
                    int32(PIXELS),
                    float32("scaling_factor"),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    13,
    "13_ConvTranspose3d_Mean_Add_Softmax_Tanh_Scaling",
    (
        ConvTranspose(3, 3, padding=1),
        Reduce("mean", (2,)),
        WithParameter("+", "mean_bias", ("1", "out_channels", "1", "1", "1")),
        Softmax((1,)),
        tanh(),
        Scale(2.0),
    ),
    # Outputs are as many as inputs along every axis: 8 x 8 pixels fill a block.
    dimensions=(
        parallel("batch", 16),
        reduced("in_channels", 16),
        reduced("depth", 32, tile=4, minimum=2),
        parallel("height", 128, tile=8, minimum=2),
        parallel("width", 128, tile=8, minimum=2),
        reduced("out_channels", 64, tile=8),
    ),
    x=("batch", "in_channels", "depth", "height", "width"),
    scalars={"scaling_factor": 2.0},
    substrates=(COLLAPSED, THREE_LAUNCHES),
)
