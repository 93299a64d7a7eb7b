"""Level 2, problems that begin with a transposed convolution of volumes."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional

from tests.gpu_eval.problems.level2.shared import Example, Model, checks, layer


def softmax_sigmoid(s: Mapping[str, int]) -> Model:
    conv = nn.ConvTranspose3d(
        s["in_channels"], s["out_channels"], 3, stride=2, padding=1, output_padding=1, bias=True
    )
    softmax, sigmoid = nn.Softmax(dim=1), nn.Sigmoid()

    def forward(x: Tensor) -> Tensor:
        y: Tensor = sigmoid(softmax(conv(x)))
        return y

    return Model(forward, layer(conv))


def leaky_multiply_leaky_max(s: Mapping[str, int]) -> Model:
    conv = nn.ConvTranspose3d(
        s["in_channels"], s["out_channels"], 3, stride=2, padding=1, output_padding=1
    )
    multiplier = nn.Parameter(torch.randn(s["out_channels"], 1, 1, 1))
    leaky, pool = nn.LeakyReLU(negative_slope=0.2), nn.MaxPool3d(kernel_size=2)

    def forward(x: Tensor) -> Tensor:
        y: Tensor = pool(leaky(leaky(conv(x)) * multiplier))
        return y

    return Model(forward, layer(conv) | {"multiplier": multiplier})


def batch_norm_average_average(s: Mapping[str, int]) -> Model:
    conv = nn.ConvTranspose3d(s["in_channels"], s["out_channels"], 3, stride=2, padding=1)
    norm = nn.BatchNorm3d(s["out_channels"])
    first, second = nn.AvgPool3d(kernel_size=2), nn.AvgPool3d(kernel_size=2)

    def forward(x: Tensor) -> Tensor:
        y: Tensor = second(first(norm.to(x.dtype)(conv(x))))
        return y

    return Model(forward, layer(conv) | layer(norm, "norm_weight", "norm_bias"))


def add_layer_norm_average_gelu(s: Mapping[str, int]) -> Model:
    conv = nn.ConvTranspose3d(
        s["in_channels"],
        s["out_channels"],
        (3, 3, 3),
        stride=(2, 2, 2),
        padding=(1, 1, 1),
        output_padding=(1, 1, 1),
    )
    sum_weight = nn.Parameter(torch.tensor(1.0))
    norm = nn.LayerNorm((s["out_width"],))
    pool, gelu = nn.AvgPool3d(kernel_size=(2, 2, 2)), nn.GELU()

    def forward(x: Tensor) -> Tensor:
        y: Tensor = gelu(pool(norm(conv(x) + sum_weight)))
        return y

    own = {"sum_weight": sum_weight}
    return Model(forward, layer(conv) | own | layer(norm, "norm_weight", "norm_bias"))


def layer_norm_gelu_scale(s: Mapping[str, int]) -> Model:
    conv = nn.ConvTranspose3d(
        s["in_channels"], s["out_channels"], 4, stride=2, padding=1, bias=True
    )
    norm = nn.LayerNorm(s["out_width"], eps=1e-5)

    def forward(x: Tensor) -> Tensor:
        return functional.gelu(norm(conv(x))) * 1.0

    return Model(forward, layer(conv) | layer(norm, "norm_weight", "norm_bias"))


def mean_add_softmax_tanh_scale(s: Mapping[str, int]) -> Model:
    conv = nn.ConvTranspose3d(s["in_channels"], s["out_channels"], 3, stride=1, padding=1)
    bias = nn.Parameter(torch.randn(1, s["out_channels"], 1, 1, 1))

    def forward(x: Tensor) -> Tensor:
        y = conv(x).mean(dim=2, keepdim=True) + bias
        return torch.tanh(torch.softmax(y, dim=1)) * 2.0

    return Model(forward, layer(conv) | {"mean_bias": bias})


def max_softmax_subtract_swish_max(s: Mapping[str, int]) -> Model:
    conv = nn.ConvTranspose3d(
        s["in_channels"], s["out_channels"], 3, stride=2, padding=1, output_padding=1
    )
    pool = nn.MaxPool3d(kernel_size=2, stride=2, padding=0)
    subtract = nn.Parameter(torch.randn(s["out_channels"]))

    def forward(x: Tensor) -> Tensor:
        y = torch.softmax(pool(conv(x)), dim=1) - subtract.view(1, -1, 1, 1, 1)
        return torch.max(torch.sigmoid(y) * y, dim=1)[0]

    return Model(forward, layer(conv) | {"subtrahend": subtract})


def average_clamp_softmax_multiply(s: Mapping[str, int]) -> Model:
    pool = nn.AvgPool3d(2)
    conv = nn.ConvTranspose3d(
        s["in_channels"], s["out_channels"], 3, stride=2, padding=1, output_padding=1
    )
    scale = nn.Parameter(torch.ones(1, s["out_channels"], 1, 1, 1))

    def forward(x: Tensor) -> Tensor:
        y = torch.clamp(conv(pool(x)), 0.0, 1.0)
        flat = torch.softmax(y.view(y.shape[0], y.shape[1], -1), dim=2)
        return flat.view(y.shape) * scale

    return Model(forward, layer(conv) | {"scale": scale})


EXAMPLES = {
    "074": Example(
        "74_ConvTranspose3d_LeakyReLU_Multiply_LeakyReLU_Max",
        ((16, 16, 16, 32, 32),),
        (16, 32, 16, 32, 32),
        leaky_multiply_leaky_max,
        {"batch": 2, "in_channels": 5, "depth": 3, "height": 5, "width": 6, "out_channels": 5},
    ),
    "049": Example(
        "49_ConvTranspose3d_Softmax_Sigmoid",
        ((16, 32, 16, 32, 32),),
        (16, 64, 32, 64, 64),
        softmax_sigmoid,
        {"batch": 2, "in_channels": 5, "depth": 2, "height": 3, "width": 7, "out_channels": 19},
    ),
    "072": Example(
        "72_ConvTranspose3d_BatchNorm_AvgPool_AvgPool",
        ((64, 3, 32, 32, 32),),
        (64, 16, 15, 15, 15),
        batch_norm_average_average,
        {"batch": 3, "in_channels": 2, "depth": 3, "height": 6, "width": 8, "out_channels": 2},
    ),
    "003": Example(
        "3_ConvTranspose3d_Sum_LayerNorm_AvgPool_GELU",
        ((32, 32, 16, 32, 32),),
        (32, 64, 16, 32, 32),
        add_layer_norm_average_gelu,
        {"batch": 2, "in_channels": 9, "depth": 2, "height": 3, "width": 5, "out_channels": 5},
    ),
    "034": Example(
        "34_ConvTranspose3d_LayerNorm_GELU_Scaling",
        ((32, 32, 16, 32, 32),),
        (32, 64, 32, 64, 64),
        layer_norm_gelu_scale,
        {"batch": 2, "in_channels": 3, "depth": 2, "height": 3, "width": 9, "out_channels": 5},
    ),
    "013": Example(
        "13_ConvTranspose3d_Mean_Add_Softmax_Tanh_Scaling",
        ((16, 16, 32, 128, 128),),
        (16, 64, 1, 128, 128),
        mean_add_softmax_tanh_scale,
        {"batch": 2, "in_channels": 3, "depth": 5, "height": 9, "width": 8, "out_channels": 11},
    ),
    "089": Example(
        "89_ConvTranspose3d_MaxPool_Softmax_Subtract_Swish_Max",
        ((128, 3, 16, 32, 32),),
        (128, 16, 32, 32),
        max_softmax_subtract_swish_max,
        {"batch": 2, "in_channels": 2, "depth": 3, "height": 5, "width": 7, "out_channels": 11},
    ),
    "038": Example(
        "38_ConvTranspose3d_AvgPool_Clamp_Softmax_Multiply",
        ((32, 32, 32, 64, 64),),
        (32, 64, 32, 64, 64),
        average_clamp_softmax_multiply,
        {"batch": 2, "in_channels": 3, "depth": 7, "height": 9, "width": 12, "out_channels": 3},
    ),
}

TestConvTranspose3d = checks(EXAMPLES)
