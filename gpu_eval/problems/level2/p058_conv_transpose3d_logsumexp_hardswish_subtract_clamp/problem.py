"""KernelBench level 2, problem 58: a transposed convolution, logsumexp, a logistic ramp, clamped.

What the benchmark calls hardswish is x sigmoid(x + 3) / 6.
"""

import torch
from torch import Tensor

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Clamp,
    ConvTranspose,
    Pointwise,
    Reduce,
    WithParameter,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

RUNNING_LOGSUMEXP = Substrate(
    name="running-logsumexp",
    source="running_logsumexp.cu",
    headers=("deconv_source.cuh", "fused_activations.cuh", "limits.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="deconv_logsumexp_clamp",
                grid=("ceil_div(out_depth * out_height * out_width, 128)", "batch", "1"),
                block=("128", "1", "1"),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("subtrahend"),
                    pointer("y"),
                    int32("in_channels"),
                    int32("depth"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                    int32("out_depth"),
                    int32("out_height"),
                    int32("out_width"),
                    float32("clamp_min"),
                    float32("clamp_max"),
                ),
                shared="in_channels * out_channels * 27 * 4",
            ),
        )
    ),
)

TWO_LAUNCHES = Substrate(
    name="two-launches",
    source="two_launches.cu",
    headers=("deconv_source.cuh", "fused_activations.cuh", "limits.cuh"),
    plan=LaunchPlan(
        workspaces=(
            Workspace("hidden", "batch * out_channels * out_depth * out_height * out_width"),
        ),
        steps=(
            Launch(
                kernel="deconv3d_channel",
                grid=(
                    "ceil_div(out_depth * out_height * out_width, 32)",
                    "ceil_div(out_channels, 4)",
                    "batch",
                ),
                block=("32", "4", "1"),
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
                    int32("out_depth"),
                    int32("out_height"),
                    int32("out_width"),
                ),
            ),
            Launch(
                kernel="logsumexp_ramp_clamp",
                grid=("ceil_div(out_depth * out_height * out_width, 64)", "batch", "1"),
                block=("64", "1", "1"),
                arguments=(
                    pointer("hidden"),
                    pointer("subtrahend"),
                    pointer("y"),
                    int32("out_channels"),
                    int32("out_depth * out_height * out_width"),
                    float32("clamp_min"),
                    float32("clamp_max"),
                ),
            ),
        ),
    ),
)


def times_logistic(h: Tensor) -> Tensor:
    """Return h sigmoid(h + 3) / 6 as the benchmark writes it."""
    return h * torch.sigmoid(h + 3) / 6


def by_tanh(h: Tensor) -> Tensor:
    """Return the same by the hyperbolic tangent where that keeps the digits, else by exp."""
    shifted = h + 3
    logistic = torch.where(
        shifted < 0,
        torch.exp(shifted) / (1 + torch.exp(shifted)),
        (1 + torch.tanh(shifted / 2)) / 2,
    )
    return h / 6 * logistic


PROBLEM = fused_problem(
    58,
    "58_ConvTranspose3d_LogSumExp_HardSwish_Subtract_Clamp",
    (
        ConvTranspose(3, 3, stride=2, padding=1),
        Reduce("logsumexp", (1,)),
        Pointwise(times_logistic, by_tanh),
        WithParameter("-", "subtrahend", ("1", "1", "1", "1")),
        Clamp(-1.0, 1.0),
    ),
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 3),
        parallel("depth", 16, tile=2, minimum=2),
        parallel("height", 32, tile=4, minimum=2),
        parallel("width", 32, tile=4, minimum=2),
        reduced("out_channels", 16),
    ),
    x=("batch", "in_channels", "depth", "height", "width"),
    scalars={"clamp_min": -1.0, "clamp_max": 1.0},
    substrates=(RUNNING_LOGSUMEXP, TWO_LAUNCHES),
)
