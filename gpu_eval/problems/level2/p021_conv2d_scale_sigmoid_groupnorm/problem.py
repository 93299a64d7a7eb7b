"""KernelBench level 2, problem 21: a convolution, a bias, a factor, sigmoid, GroupNorm."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Conv,
    Normalise,
    WithParameter,
    fixed,
    fused_problem,
    parallel,
    reduced,
    sigmoid,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

PIXELS = "out_height * out_width"
BLOCKS = f"ceil_div({PIXELS}, 64)"
RUNS = "batch * groups"
PARTS = tuple(Workspace(name, f"{RUNS} * {BLOCKS}") for name in ("counts", "means", "squares"))
MERGED = tuple(Workspace(name, RUNS) for name in ("group_mean", "group_inverse"))

PARTIAL_MOMENTS = Substrate(
    name="partial-moments",
    source="partial_moments.cu",
    headers=("fused_activations.cuh", "welford.cuh", "norm_block_moments.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("hidden", f"batch * out_channels * {PIXELS}"), *PARTS, *MERGED),
        steps=(
            Launch(
                kernel="conv2d_sigmoid_moments",
                grid=(BLOCKS, "groups", "batch"),
                block=("64", "1", "1"),
                shared="width_of_group * in_channels * 9 * 4",
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("channel_bias"),
                    pointer("scale"),
                    pointer("hidden"),
                    *(pointer(part.name) for part in PARTS),
                    int32("in_channels"),
                    int32("height"),
                    int32("width"),
                    int32("groups"),
                    int32("out_height"),
                    int32("out_width"),
                ),
            ),
            Launch(
                kernel="merge_moments",
                grid=(RUNS, "1", "1"),
                block=("32", "1", "1"),
                arguments=(
                    *(pointer(part.name) for part in PARTS),
                    *(pointer(merged.name) for merged in MERGED),
                    int32(BLOCKS),
                    float32("eps"),
                ),
            ),
            Launch(
                kernel="group_norm",
                grid=(f"ceil_div({PIXELS}, 128)", "batch * out_channels", "1"),
                block=("128", "1", "1"),
                arguments=(
                    pointer("hidden"),
                    *(pointer(merged.name) for merged in MERGED),
                    pointer("norm_weight"),
                    pointer("norm_bias"),
                    pointer("y"),
                    int32("groups"),
                    int32(PIXELS),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    21,
    "21_Conv2d_Add_Scale_Sigmoid_GroupNorm",
    (
        Conv(2, 3),
        WithParameter("+", "channel_bias", ("out_channels", "1", "1")),
        WithParameter("*", "scale", ("out_channels", "1", "1")),
        sigmoid(),
        Normalise("group", width=4),
    ),
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 8),
        reduced("height", 256, tile=8, minimum=4),
        reduced("width", 256, tile=8, minimum=4),
        parallel("groups", 8),
        fixed("width_of_group", 4),
    ),
    derived={"out_channels": "groups * width_of_group"},
    x=("batch", "in_channels", "height", "width"),
    scalars={"eps": 1e-5},
    substrates=(PARTIAL_MOMENTS,),
)
