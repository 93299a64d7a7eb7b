"""Level 2, problems that begin with a three-dimensional convolution."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from gpu_eval.devices.base import Case
from gpu_eval.problems.loader import Corpus
from gpu_eval.problems.tensors import dimensions
from suiteopt.matrix.schema import Status
from tests.gpu_eval.problems.level2.shared import (
    Example,
    Kernels,
    Model,
    checks,
    drawn_tensors,
    layer,
)


def convolution(s: Mapping[str, int], kernel: int = 3) -> nn.Conv3d:
    return nn.Conv3d(s["in_channels"], s["out_channels"], kernel)


def by_channel(s: Mapping[str, int]) -> nn.Parameter:
    return nn.Parameter(torch.randn(s["out_channels"], 1, 1, 1))


def mish_tanh(s: Mapping[str, int]) -> Model:
    conv = convolution(s)

    def forward(x: Tensor) -> Tensor:
        return torch.tanh(functional.mish(conv(x)))

    return Model(forward, layer(conv))


def scaling_tanh_multiply_sigmoid(s: Mapping[str, int]) -> Model:
    conv = convolution(s)
    scaling_factor, bias = by_channel(s), by_channel(s)

    def forward(x: Tensor) -> Tensor:
        return torch.sigmoid(torch.tanh(conv(x) * scaling_factor) * bias)

    return Model(forward, layer(conv) | {"scale": scaling_factor, "factor": bias})


def four_activations_bias(s: Mapping[str, int]) -> Model:
    conv = convolution(s)
    bias = by_channel(s)

    def forward(x: Tensor) -> Tensor:
        h = functional.leaky_relu(torch.relu(conv(x)), negative_slope=0.01)
        return torch.sigmoid(functional.gelu(h)) + bias

    return Model(forward, layer(conv) | {"channel_bias": bias})


def leaky_relu_sum_clamp_gelu(s: Mapping[str, int]) -> Model:
    conv = convolution(s)
    sum_tensor = by_channel(s)

    def forward(x: Tensor) -> Tensor:
        h = functional.leaky_relu(conv(x), negative_slope=0.2) + sum_tensor
        return functional.gelu(torch.clamp(h, min=-1.0, max=1.0))

    return Model(forward, layer(conv) | {"summand": sum_tensor})


def divide_max_average_bias_sum(s: Mapping[str, int]) -> Model:
    conv = convolution(s)
    max_pool, average_pool = nn.MaxPool3d((2, 2, 2)), nn.AdaptiveAvgPool3d((1, 1, 1))
    bias = by_channel(s)

    def forward(x: Tensor) -> Tensor:
        return torch.sum(average_pool(max_pool(conv(x) / 2.0)) + bias, dim=1)

    return Model(forward, layer(conv) | {"channel_bias": bias})


def min_softmax(s: Mapping[str, int]) -> Model:
    conv = convolution(s)

    def forward(x: Tensor) -> Tensor:
        return torch.softmax(torch.min(conv(x), dim=2)[0], dim=1)

    return Model(forward, layer(conv))


def softmax_max_max(s: Mapping[str, int]) -> Model:
    conv = convolution(s)
    first, second = nn.MaxPool3d(2), nn.MaxPool3d(2)

    def forward(x: Tensor) -> Tensor:
        y: Tensor = second(first(torch.softmax(conv(x), dim=1)))
        return y

    return Model(forward, layer(conv))


def max_logsumexp_relu(s: Mapping[str, int]) -> Model:
    conv = nn.Conv3d(s["in_channels"], s["out_channels"], 3, stride=1, padding=1)
    max_pool = nn.MaxPool3d(kernel_size=2, stride=2)

    def forward(x: Tensor) -> Tensor:
        return torch.relu(torch.logsumexp(max_pool(conv(x)), dim=1, keepdim=True))

    return Model(forward, layer(conv))


def group_norm_mean(s: Mapping[str, int]) -> Model:
    conv = convolution(s)
    group_norm = nn.GroupNorm(s["groups"], s["out_channels"])

    def forward(x: Tensor) -> Tensor:
        y: Tensor = group_norm(conv(x)).mean(dim=[1, 2, 3, 4])
        return y

    return Model(forward, layer(conv) | layer(group_norm, "norm_weight", "norm_bias"))


def hardswish_group_norm_mean(s: Mapping[str, int]) -> Model:
    conv = convolution(s, 4)
    group_norm = nn.GroupNorm(s["groups"], s["out_channels"])

    def forward(x: Tensor) -> Tensor:
        return torch.mean(group_norm(functional.hardswish(conv(x))), dim=[2, 3, 4])

    return Model(forward, layer(conv) | layer(group_norm, "norm_weight", "norm_bias"))


def multiply_instance_norm_clamp_multiply_max(s: Mapping[str, int]) -> Model:
    conv = convolution(s)
    multiplier = by_channel(s)
    instance_norm = nn.InstanceNorm3d(s["out_channels"])

    def forward(x: Tensor) -> Tensor:
        h = torch.clamp(instance_norm(conv(x) * multiplier), -1.0, 1.0)
        return torch.max(h * multiplier, dim=1)[0]

    return Model(forward, layer(conv) | {"multiplier": multiplier})


def group_norm_min_clamp_dropout(s: Mapping[str, int]) -> Model:
    conv = convolution(s)
    norm = nn.GroupNorm(s["groups"], s["out_channels"])
    dropout = nn.Dropout(0.2)

    def forward(x: Tensor) -> Tensor:
        h = torch.min(norm(conv(x)), torch.tensor(0.0, device=x.device))
        y: Tensor = dropout(torch.clamp(h, min=0.0, max=1.0))
        return y

    return Model(forward, layer(conv) | layer(norm, "norm_weight", "norm_bias"))


def sizes(batch: int, given: int, volume: tuple[int, int, int], made: int) -> dict[str, int]:
    depth, height, width = volume
    return {
        "batch": batch,
        "in_channels": given,
        "depth": depth,
        "height": height,
        "width": width,
        "out_channels": made,
    }


def grouped(given: Mapping[str, int], width: int) -> dict[str, int]:
    others = {name: size for name, size in given.items() if name != "out_channels"}
    return {**others, "groups": given["out_channels"] // width, "width_of_group": width}


EXAMPLES = {
    "006": Example(
        "6_Conv3d_Softmax_MaxPool_MaxPool",
        ((128, 3, 16, 32, 32),),
        (128, 16, 3, 7, 7),
        softmax_max_max,
        sizes(2, 3, (7, 11, 13), 7),
    ),
    "007": Example(
        "7_Conv3d_ReLU_LeakyReLU_GELU_Sigmoid_BiasAdd",
        ((64, 8, 32, 64, 64),),
        (64, 32, 30, 62, 62),
        four_activations_bias,
        sizes(2, 3, (8, 11, 13), 3),
    ),
    "008": Example(
        "8_Conv3d_Divide_Max_GlobalAvgPool_BiasAdd_Sum",
        ((128, 8, 16, 64, 64),),
        (128, 1, 1, 1),
        divide_max_average_bias_sum,
        sizes(2, 2, (6, 18, 20), 3),
    ),
    "023": Example(
        "23_Conv3d_GroupNorm_Mean",
        ((128, 3, 24, 32, 32),),
        (128,),
        group_norm_mean,
        grouped(sizes(2, 3, (6, 7, 10), 9), width=3),
    ),
    "024": Example(
        "24_Conv3d_Min_Softmax",
        ((128, 3, 24, 32, 32),),
        (128, 24, 30, 30),
        min_softmax,
        sizes(2, 3, (7, 7, 9), 26),
    ),
    "027": Example(
        "27_Conv3d_HardSwish_GroupNorm_Mean",
        ((1024, 3, 16, 32, 32),),
        (1024, 16),
        hardswish_group_norm_mean,
        grouped(sizes(2, 2, (8, 10, 14), 12), width=4),
    ),
    "043": Example(
        "43_Conv3d_Max_LogSumExp_ReLU",
        ((4, 32, 32, 128, 128),),
        (4, 1, 16, 64, 64),
        max_logsumexp_relu,
        sizes(2, 3, (7, 11, 13), 7),
    ),
    "047": Example(
        "47_Conv3d_Mish_Tanh",
        ((16, 32, 32, 64, 64),),
        (16, 64, 30, 62, 62),
        mish_tanh,
        sizes(2, 3, (5, 6, 7), 37),
    ),
    "048": Example(
        "48_Conv3d_Scaling_Tanh_Multiply_Sigmoid",
        ((128, 3, 16, 64, 64),),
        (128, 16, 14, 62, 62),
        scaling_tanh_multiply_sigmoid,
        sizes(2, 3, (4, 11, 20), 11),
    ),
    "079": Example(
        "79_Conv3d_Multiply_InstanceNorm_Clamp_Multiply_Max",
        ((128, 3, 16, 32, 32),),
        (128, 14, 30, 30),
        multiply_instance_norm_clamp_multiply_max,
        sizes(2, 2, (5, 13, 19), 5),
    ),
    "083": Example(
        "83_Conv3d_GroupNorm_Min_Clamp_Dropout",
        ((128, 3, 16, 64, 64),),
        (128, 16, 14, 62, 62),
        group_norm_min_clamp_dropout,
        grouped(sizes(3, 3, (5, 11, 13), 6), width=2),
    ),
    "090": Example(
        "90_Conv3d_LeakyReLU_Sum_Clamp_GELU",
        ((128, 8, 16, 64, 64),),
        (128, 64, 14, 62, 62),
        leaky_relu_sum_clamp_gelu,
        sizes(2, 3, (5, 11, 20), 19),
    ),
}

TestConv3d = checks(EXAMPLES)


@pytest.mark.skipif(shutil.which("g++") is None, reason="the host device needs g++")
def test_what_the_bounds_of_problem_83_hide(corpus: Corpus, tmp_path: Path) -> None:
    """Between other bounds its kernels convolve, normalise and drop, which zeros cannot show."""
    problem = corpus.problem("level2/083")
    values = dimensions(problem, EXAMPLES["083"].odd)
    tensors = drawn_tensors(problem, values, seed=13)
    wide = {name: tensor.double() for name, tensor in tensors.items()}
    h = functional.conv3d(wide["x"], wide["weight"], wide["bias"])
    h = functional.group_norm(h, values["groups"], wide["norm_weight"], wide["norm_bias"])
    wanted = torch.clamp(torch.clamp(h, max=1.5), -0.5, 1.0) / 0.75
    kernels = Kernels([problem], tmp_path)
    ((substrate, binary),) = kernels.of(problem)
    open_bounds = {"limit": 1.5, "low": -0.5, "high": 1.0, "probability": 0.25}
    plan = substrate.plan.resolve(values, {**problem.scalars, **open_bounds})
    zeros = {"y": torch.zeros(wanted.shape)}
    with kernels.device.open() as session:
        session.bind(Case(problem.id, tensors, zeros, {"y": zeros["y"].double()}))
        assert session.run(binary, plan, schedule=0, deadline=30.0).status is Status.OK
        got = session.outputs()["y"].reshape(wanted.shape)
    kept = got != 0
    assert 0.70 < float(kept.double().mean()) < 0.80
    assert torch.allclose(got[kept].double(), wanted[kept], rtol=1e-5, atol=1e-6)
