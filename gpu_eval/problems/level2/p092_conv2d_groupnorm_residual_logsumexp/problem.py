"""KernelBench level 2, problem 92: a convolution plus its normed and activated self, logsumexp."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Conv,
    Keep,
    Normalise,
    Reduce,
    Residual,
    fixed,
    fused_problem,
    hardswish,
    parallel,
    reduced,
    tanh,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

PIXELS = "out_height * out_width"
RUNS = "batch * groups"

ONLINE = Substrate(
    name="online",
    source="online.cu",
    headers=("fused_activations.cuh", "limits.cuh", "welford.cuh", "norm_block_moments.cuh"),
    plan=LaunchPlan(
        workspaces=(
            Workspace("hidden", f"batch * out_channels * {PIXELS}"),
            Workspace("means", RUNS),
            Workspace("inverses", RUNS),
        ),
        steps=(
            Launch(
                kernel="conv2d_pairs",
                grid=("ceil_div(out_width, 16)", "ceil_div(out_height, 8)", RUNS),
                block=("8", "8", "1"),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("hidden"),
                    int32("in_channels"),
                    int32("height"),
                    int32("width"),
                    int32("groups"),
                    int32("out_height"),
                    int32("out_width"),
                ),
            ),
            Launch(
                kernel="group_moments",
                grid=(RUNS, "1", "1"),
                block=("64", "1", "1"),
                arguments=(
                    pointer("hidden"),
                    pointer("means"),
                    pointer("inverses"),
                    int32(f"width_of_group * {PIXELS}"),
                    float32("eps"),
                ),
            ),
            Launch(
                kernel="residual_logsumexp",
                grid=(f"ceil_div({PIXELS}, 32)", "batch", "1"),
                block=("32", "4", "1"),
                arguments=(
                    pointer("hidden"),
                    pointer("means"),
                    pointer("inverses"),
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
    92,
    "92_Conv2d_GroupNorm_Tanh_HardSwish_ResidualAdd_LogSumExp",
    (
        Conv(2, 3),
        Keep("conv"),
        Normalise("group", width=4),
        tanh(),
        hardswish(),
        Residual("+", "conv"),
        Reduce("logsumexp"),
    ),
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 8),
        reduced("height", 128, tile=8, minimum=4),
        reduced("width", 128, tile=8, minimum=4),
        reduced("groups", 16),
        fixed("width_of_group", 4),
    ),
    derived={"out_channels": "groups * width_of_group"},
    x=("batch", "in_channels", "height", "width"),
    scalars={"eps": 1e-5},
    substrates=(ONLINE,),
)
