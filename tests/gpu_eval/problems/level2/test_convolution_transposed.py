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


def clamp_divide(s: Mapping[str, int]) -> Model:
    conv = nn.ConvTranspose3d(s["in_channels"], s["out_channels"], 3, stride=2, padding=1)

    def forward(x: Tensor) -> Tensor:
        return torch.clamp(conv(x), min=-1.0) / 2.0

    return Model(forward, layer(conv))


def add_times_hardswish(s: Mapping[str, int]) -> Model:
    conv = nn.ConvTranspose3d(
        s["in_channels"], s["out_channels"], 3, stride=2, padding=1, output_padding=1
    )

    def forward(x: Tensor, add_input: Tensor) -> Tensor:
        y = conv(x) + add_input
        return y * functional.hardswish(y)

    return Model(forward, layer(conv))


def scale_average_add_scale(s: Mapping[str, int]) -> Model:
    conv = nn.ConvTranspose3d(s["in_channels"], s["out_channels"], 3, stride=2, padding=1)
    scale1 = nn.Parameter(torch.tensor(0.5))
    pool = nn.AvgPool3d(kernel_size=2)
    bias = nn.Parameter(torch.randn(s["out_channels"], 1, 1, 1))
    scale2 = nn.Parameter(torch.tensor(1.0))

    def forward(x: Tensor) -> Tensor:
        y: Tensor = (pool(conv(x) * scale1) + bias) * scale2
        return y

    own = {"scale1": scale1, "pooled_bias": bias, "scale2": scale2}
    return Model(forward, layer(conv) | own)


def multiply_max_average_clamp(s: Mapping[str, int]) -> Model:
    conv = nn.ConvTranspose3d(s["in_channels"], s["out_channels"], 3, stride=2, padding=1)
    pool, average = nn.MaxPool3d(kernel_size=2), nn.AdaptiveAvgPool3d((1, 1, 1))

    def forward(x: Tensor) -> Tensor:
        return torch.clamp(average(pool(conv(x) * 0.5)), min=0, max=1)

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
    "100": Example(
        "100_ConvTranspose3d_Clamp_Min_Divide",
        ((16, 64, 24, 48, 48),),
        (16, 128, 47, 95, 95),
        clamp_divide,
        {"batch": 2, "in_channels": 3, "depth": 3, "height": 5, "width": 4, "out_channels": 6},
    ),
    "026": Example(
        "26_ConvTranspose3d_Add_HardSwish",
        ((128, 32, 16, 16, 16), (128, 64, 32, 32, 32)),
        (128, 64, 32, 32, 32),
        add_times_hardswish,
        {"batch": 2, "in_channels": 9, "depth": 3, "height": 5, "width": 7, "out_channels": 2},
    ),
    "050": Example(
        "50_ConvTranspose3d_Scaling_AvgPool_BiasAdd_Scaling",
        ((128, 3, 16, 32, 32),),
        (128, 16, 15, 31, 31),
        scale_average_add_scale,
        {"batch": 2, "in_channels": 3, "depth": 5, "height": 9, "width": 11, "out_channels": 3},
    ),
    "096": Example(
        "96_ConvTranspose3d_Multiply_Max_GlobalAvgPool_Clamp",
        ((128, 3, 16, 32, 32),),
        (128, 16, 1, 1, 1),
        multiply_max_average_clamp,
        {"batch": 2, "in_channels": 3, "depth": 4, "height": 7, "width": 9, "out_channels": 3},
    ),
}

TestConvolutionTransposed = checks(EXAMPLES)
