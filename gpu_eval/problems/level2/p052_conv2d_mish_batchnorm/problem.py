"""KernelBench level 2, problem 52: a convolution, Mish written out, BatchNorm in training mode."""

import torch
from torch import Tensor
from torch.nn import functional

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Conv,
    Normalise,
    Pointwise,
    fused_problem,
    mish,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, int64, pointer

PIXELS = "out_height * out_width"
OUTPUTS = f"batch * out_channels * {PIXELS}"


def gate(h: Tensor) -> Tensor:
    """Return tanh(log(1 + exp(h))) h in the library's three roundings; its Mish has one."""
    return torch.tanh(functional.softplus(h)) * h


CHANNEL_BLOCKS = Substrate(
    name="channel-blocks",
    source="channel_blocks.cu",
    headers=(
        "conv_stage.cuh",
        "fused_activations.cuh",
        "welford.cuh",
        "norm_block_moments.cuh",
    ),
    plan=LaunchPlan(
        workspaces=(
            Workspace("hidden", OUTPUTS),
            Workspace("factors", "out_channels"),
            Workspace("summands", "out_channels"),
        ),
        steps=(
            Launch(
                kernel="conv2d_mish",
                grid=(
                    "ceil_div(out_width, 16)",
                    "ceil_div(out_height, 4)",
                    "batch * out_channels",
                ),
                block=("16", "4", "1"),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("hidden"),
                    int32("in_channels"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                    int32("out_height"),
                    int32("out_width"),
                ),
            ),
            Launch(
                kernel="batch_moments",
                grid=("out_channels", "1", "1"),
                block=("128", "1", "1"),
                arguments=(
                    pointer("hidden"),
                    pointer("norm_weight"),
                    pointer("norm_bias"),
                    pointer("factors"),
                    pointer("summands"),
                    int32("batch"),
                    int32("out_channels"),
                    int32(PIXELS),
                    float32("eps"),
                ),
            ),
            Launch(
                kernel="scale_and_shift",
                grid=(f"min(ceil_div({OUTPUTS}, 512), 1056)", "1", "1"),
                block=("128", "1", "1"),
                arguments=(
                    pointer("hidden"),
                    pointer("factors"),
                    pointer("summands"),
                    pointer("y"),
                    int64(OUTPUTS),
                    int32("out_channels"),
                    int32(PIXELS),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    52,
    "52_Conv2d_Activation_BatchNorm",
    (Conv(2, 3), Pointwise(gate, mish().other), Normalise("batch")),
    dimensions=(
        reduced("batch", 64, minimum=2),
        reduced("in_channels", 64),
        reduced("height", 128, tile=4, minimum=3),
        reduced("width", 128, tile=8, minimum=3),
        parallel("out_channels", 128),
    ),
    x=("batch", "in_channels", "height", "width"),
    scalars={"eps": 1e-5},
    substrates=(CHANNEL_BLOCKS,),
)
