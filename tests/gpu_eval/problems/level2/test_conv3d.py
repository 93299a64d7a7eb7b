"""Level 2, problems that begin with a three-dimensional convolution."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional

from tests.gpu_eval.problems.level2.shared import Example, Model, checks, layer


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
    "024": Example(
        "24_Conv3d_Min_Softmax",
        ((128, 3, 24, 32, 32),),
        (128, 24, 30, 30),
        min_softmax,
        sizes(2, 3, (7, 7, 9), 26),
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
    "090": Example(
        "90_Conv3d_LeakyReLU_Sum_Clamp_GELU",
        ((128, 8, 16, 64, 64),),
        (128, 64, 14, 62, 62),
        leaky_relu_sum_clamp_gelu,
        sizes(2, 3, (5, 11, 20), 19),
    ),
}

TestConv3d = checks(EXAMPLES)
