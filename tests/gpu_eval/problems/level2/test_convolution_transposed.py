"""Level 2, problems that begin with a transposed convolution."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional

from tests.gpu_eval.problems.level2.shared import Example, Model, checks, layer


def add_clamp_scale_clamp_divide(s: Mapping[str, int]) -> Model:
    conv = nn.ConvTranspose2d(
        s["in_channels"], s["out_channels"], 3, stride=2, padding=1, output_padding=1
    )
    bias = nn.Parameter(torch.randn(s["out_channels"], 1, 1))

    def forward(x: Tensor) -> Tensor:
        y = torch.clamp(conv(x) + bias, min=0.0, max=1.0)
        return torch.clamp(y * 2.0, min=0.0, max=1.0) / 2.0

    return Model(forward, layer(conv) | {"channel_bias": bias})


def subtract_tanh(s: Mapping[str, int]) -> Model:
    conv = nn.ConvTranspose2d(
        s["in_channels"], s["out_channels"], 4, stride=2, padding=1, output_padding=1
    )
    bias = nn.Parameter(torch.randn(s["out_channels"], 1, 1))

    def forward(x: Tensor) -> Tensor:
        return torch.tanh(conv(x) - bias)

    return Model(forward, layer(conv) | {"subtrahend": bias})


def mish_add_hardtanh_scale(s: Mapping[str, int]) -> Model:
    conv = nn.ConvTranspose2d(s["in_channels"], s["out_channels"], 3, 2, 1, 1)

    def forward(x: Tensor) -> Tensor:
        y = functional.mish(conv(x)) + 0.5
        return functional.hardtanh(y, min_val=-1, max_val=1) * 2

    return Model(forward, layer(conv))


def add_min_gelu_multiply(s: Mapping[str, int]) -> Model:
    conv = nn.ConvTranspose2d(s["in_channels"], s["out_channels"], 4, stride=2)

    def forward(x: Tensor) -> Tensor:
        y = torch.min(conv(x) + 0.5, torch.tensor(0.0, dtype=x.dtype))
        return functional.gelu(y) * 2.0

    return Model(forward, layer(conv))


EXAMPLES = {
    "002": Example(
        "2_ConvTranspose2d_BiasAdd_Clamp_Scaling_Clamp_Divide",
        ((128, 64, 128, 128),),
        (128, 64, 256, 256),
        add_clamp_scale_clamp_divide,
        {"batch": 2, "in_channels": 3, "height": 9, "width": 17, "out_channels": 3},
    ),
    "005": Example(
        "5_ConvTranspose2d_Subtract_Tanh",
        ((32, 64, 256, 256),),
        (32, 64, 513, 513),
        subtract_tanh,
        {"batch": 2, "in_channels": 3, "height": 5, "width": 7, "out_channels": 19},
    ),
    "016": Example(
        "16_ConvTranspose2d_Mish_Add_Hardtanh_Scaling",
        ((128, 64, 128, 128),),
        (128, 64, 256, 256),
        mish_add_hardtanh_scale,
        {"batch": 2, "in_channels": 5, "height": 3, "width": 19, "out_channels": 5},
    ),
    "093": Example(
        "93_ConvTranspose2d_Add_Min_GELU_Multiply",
        ((128, 64, 64, 64),),
        (128, 128, 130, 130),
        add_min_gelu_multiply,
        {"batch": 2, "in_channels": 3, "height": 5, "width": 18, "out_channels": 3},
    ),
}

TestConvolutionTransposed = checks(EXAMPLES)
