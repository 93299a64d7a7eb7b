"""Level 2, problems that begin with a two-dimensional convolution."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional

from tests.gpu_eval.problems.level2.shared import Example, Model, checks, layer


def convolution(s: Mapping[str, int]) -> nn.Conv2d:
    return nn.Conv2d(s["in_channels"], s["out_channels"], 3)


def relu_hardswish(s: Mapping[str, int]) -> Model:
    conv = convolution(s)

    def forward(x: Tensor) -> Tensor:
        h = torch.relu(conv(x))
        return h * torch.clamp((h + 3) / 6, 0, 1)

    return Model(forward, layer(conv))


def hardswish_relu(s: Mapping[str, int]) -> Model:
    conv = convolution(s)

    def forward(x: Tensor) -> Tensor:
        return torch.relu(functional.hardswish(conv(x)))

    return Model(forward, layer(conv))


def divide_leaky_relu(s: Mapping[str, int]) -> Model:
    conv = convolution(s)

    def forward(x: Tensor) -> Tensor:
        return functional.leaky_relu(conv(x) / 2, negative_slope=0.01)

    return Model(forward, layer(conv))


def subtract_subtract_mish(s: Mapping[str, int]) -> Model:
    conv = convolution(s)

    def forward(x: Tensor) -> Tensor:
        return functional.mish(conv(x) - 0.5 - 0.2)

    return Model(forward, layer(conv))


def min_add_multiply(s: Mapping[str, int]) -> Model:
    conv = convolution(s)
    bias = nn.Parameter(torch.randn(s["out_channels"], 1, 1))

    def forward(x: Tensor) -> Tensor:
        return (torch.min(conv(x), torch.tensor(0.5, dtype=x.dtype)) + bias) * 2.0

    return Model(forward, layer(conv) | {"channel_bias": bias})


def mish_mish(s: Mapping[str, int]) -> Model:
    conv = convolution(s)

    def forward(x: Tensor) -> Tensor:
        return functional.mish(functional.mish(conv(x)))

    return Model(forward, layer(conv))


def multiply_leaky_relu_gelu(s: Mapping[str, int]) -> Model:
    conv = convolution(s)
    multiplier = nn.Parameter(torch.randn(s["out_channels"], 1, 1))
    leaky_relu = nn.LeakyReLU()

    def forward(x: Tensor) -> Tensor:
        return functional.gelu(leaky_relu(conv(x) * multiplier))

    return Model(forward, layer(conv) | {"multiplier": multiplier})


def min_tanh_tanh(s: Mapping[str, int]) -> Model:
    conv = convolution(s)

    def forward(x: Tensor) -> Tensor:
        return torch.tanh(torch.tanh(torch.min(conv(x), dim=1, keepdim=True)[0]))

    return Model(forward, layer(conv))


def tanh_scaling_max(s: Mapping[str, int]) -> Model:
    conv = convolution(s)
    bias = nn.Parameter(torch.randn(s["out_channels"], 1, 1))
    max_pool = nn.MaxPool2d(4)

    def forward(x: Tensor) -> Tensor:
        y: Tensor = max_pool(torch.tanh(conv(x)) * 2.0 + bias)
        return y

    return Model(forward, layer(conv) | {"channel_bias": bias})


def subtract_tanh_average(s: Mapping[str, int]) -> Model:
    conv = convolution(s)
    average_pool = nn.AvgPool2d(2)

    def forward(x: Tensor) -> Tensor:
        y: Tensor = average_pool(torch.tanh(conv(x) - 0.5) - 0.2)
        return y

    return Model(forward, layer(conv))


def hardswish_max_mish(s: Mapping[str, int]) -> Model:
    conv = convolution(s)
    max_pool = nn.MaxPool2d(2)

    def forward(x: Tensor) -> Tensor:
        return functional.mish(max_pool(functional.hardswish(conv(x) - 0.5)))

    return Model(forward, layer(conv))


def average_sigmoid_sum(s: Mapping[str, int]) -> Model:
    conv = convolution(s)
    average_pool = nn.AvgPool2d(4)

    def forward(x: Tensor) -> Tensor:
        return torch.sum(torch.sigmoid(average_pool(conv(x))), dim=[1, 2, 3])

    return Model(forward, layer(conv))


def gelu_global_average(s: Mapping[str, int]) -> Model:
    conv = convolution(s)

    def forward(x: Tensor) -> Tensor:
        h = functional.adaptive_avg_pool2d(functional.gelu(conv(x)), 1)
        return h.squeeze(-1).squeeze(-1)

    return Model(forward, layer(conv))


def instance_norm_divide(s: Mapping[str, int]) -> Model:
    conv = convolution(s)
    instance_norm = nn.InstanceNorm2d(s["out_channels"])

    def forward(x: Tensor) -> Tensor:
        y: Tensor = instance_norm(conv(x)) / 2.0
        return y

    return Model(forward, layer(conv))


def scale_sigmoid_group_norm(s: Mapping[str, int]) -> Model:
    conv = convolution(s)
    bias = nn.Parameter(torch.randn(s["out_channels"], 1, 1))
    scale = nn.Parameter(torch.randn(s["out_channels"], 1, 1))
    group_norm = nn.GroupNorm(s["groups"], s["out_channels"])

    def forward(x: Tensor) -> Tensor:
        y: Tensor = group_norm(torch.sigmoid((conv(x) + bias) * scale))
        return y

    own = {"channel_bias": bias, "scale": scale}
    return Model(forward, layer(conv) | own | layer(group_norm, "norm_weight", "norm_bias"))


def scaling_min(s: Mapping[str, int]) -> Model:
    conv = convolution(s)

    def forward(x: Tensor) -> Tensor:
        return torch.min(conv(x) * 2.0, dim=1, keepdim=True)[0]

    return Model(forward, layer(conv))


def activation_batch_norm(s: Mapping[str, int]) -> Model:
    conv = convolution(s)
    norm = nn.BatchNorm2d(s["out_channels"], eps=1e-5, momentum=0.1)

    def forward(x: Tensor) -> Tensor:
        h = conv(x)
        norm.to(x.dtype)  # running statistics too
        y: Tensor = norm(torch.multiply(torch.tanh(functional.softplus(h)), h))
        return y

    return Model(forward, layer(conv) | layer(norm, "norm_weight", "norm_bias"))


def batch_norm_scaling(s: Mapping[str, int]) -> Model:
    conv = convolution(s)
    norm = nn.BatchNorm2d(s["out_channels"])

    def forward(x: Tensor) -> Tensor:
        norm.to(x.dtype)
        y: Tensor = norm(conv(x)) * 2.0
        return y

    return Model(forward, layer(conv) | layer(norm, "norm_weight", "norm_bias"))


def group_norm_max_clamp(s: Mapping[str, int]) -> Model:
    conv = convolution(s)
    group_norm = nn.GroupNorm(s["groups"], s["out_channels"])
    scale = nn.Parameter(torch.ones(s["out_channels"], 1, 1))
    max_pool = nn.MaxPool2d(4)

    def forward(x: Tensor) -> Tensor:
        return torch.clamp(max_pool(group_norm(conv(x)) * scale), 0.0, 1.0)

    norm = layer(group_norm, "norm_weight", "norm_bias")
    return Model(forward, layer(conv) | norm | {"scale": scale})


def group_norm_residual_logsumexp(s: Mapping[str, int]) -> Model:
    conv = convolution(s)
    group_norm = nn.GroupNorm(s["groups"], s["out_channels"], eps=1e-5)
    tanh, hard_swish = nn.Tanh(), nn.Hardswish()

    def forward(x: Tensor) -> Tensor:
        h = conv(x)
        return torch.logsumexp(h + hard_swish(tanh(group_norm(h))), dim=1, keepdim=True)

    return Model(forward, layer(conv) | layer(group_norm, "norm_weight", "norm_bias"))


EXAMPLES = {
    "004": Example(
        "4_Conv2d_Mish_Mish",
        ((64, 64, 256, 256),),
        (64, 128, 254, 254),
        mish_mish,
        {"batch": 2, "in_channels": 5, "height": 19, "width": 21, "out_channels": 5},
    ),
    "017": Example(
        "17_Conv2d_InstanceNorm_Divide",
        ((128, 64, 128, 128),),
        (128, 128, 126, 126),
        instance_norm_divide,
        {"batch": 2, "in_channels": 5, "height": 13, "width": 21, "out_channels": 3},
    ),
    "021": Example(
        "21_Conv2d_Add_Scale_Sigmoid_GroupNorm",
        ((128, 8, 256, 256),),
        (128, 32, 254, 254),
        scale_sigmoid_group_norm,
        {
            "batch": 2,
            "in_channels": 3,
            "height": 13,
            "width": 16,
            "groups": 3,
            "width_of_group": 4,
        },
    ),
    "025": Example(
        "25_Conv2d_Min_Tanh_Tanh",
        ((128, 16, 256, 256),),
        (128, 1, 254, 254),
        min_tanh_tanh,
        {"batch": 2, "in_channels": 3, "height": 8, "width": 37, "out_channels": 11},
    ),
    "031": Example(
        "31_Conv2d_Min_Add_Multiply",
        ((128, 64, 128, 128),),
        (128, 128, 126, 126),
        min_add_multiply,
        {"batch": 2, "in_channels": 5, "height": 9, "width": 12, "out_channels": 19},
    ),
    "032": Example(
        "32_Conv2d_Scaling_Min",
        ((64, 64, 256, 256),),
        (64, 1, 254, 254),
        scaling_min,
        {"batch": 2, "in_channels": 5, "height": 9, "width": 12, "out_channels": 27},
    ),
    "035": Example(
        "35_Conv2d_Subtract_HardSwish_MaxPool_Mish",
        ((128, 64, 128, 128),),
        (128, 128, 63, 63),
        hardswish_max_mish,
        {"batch": 2, "in_channels": 5, "height": 21, "width": 24, "out_channels": 3},
    ),
    "046": Example(
        "46_Conv2d_Subtract_Tanh_Subtract_AvgPool",
        ((128, 64, 128, 128),),
        (128, 128, 63, 63),
        subtract_tanh_average,
        {"batch": 2, "in_channels": 3, "height": 13, "width": 22, "out_channels": 3},
    ),
    "052": Example(
        "52_Conv2d_Activation_BatchNorm",
        ((64, 64, 128, 128),),
        (64, 128, 126, 126),
        activation_batch_norm,
        {"batch": 3, "in_channels": 3, "height": 11, "width": 20, "out_channels": 5},
    ),
    "054": Example(
        "54_Conv2d_Multiply_LeakyReLU_GELU",
        ((64, 64, 256, 256),),
        (64, 64, 254, 254),
        multiply_leaky_relu_gelu,
        {"batch": 2, "in_channels": 5, "height": 11, "width": 20, "out_channels": 19},
    ),
    "057": Example(
        "57_Conv2d_ReLU_HardSwish",
        ((128, 8, 128, 128),),
        (128, 64, 126, 126),
        relu_hardswish,
        {"batch": 2, "in_channels": 3, "height": 12, "width": 21, "out_channels": 9},
    ),
    "065": Example(
        "65_Conv2d_AvgPool_Sigmoid_Sum",
        ((128, 8, 384, 384),),
        (128,),
        average_sigmoid_sum,
        {"batch": 3, "in_channels": 3, "height": 37, "width": 41, "out_channels": 9},
    ),
    "067": Example(
        "67_Conv2d_GELU_GlobalAvgPool",
        ((128, 8, 256, 256),),
        (128, 64),
        gelu_global_average,
        {"batch": 2, "in_channels": 3, "height": 15, "width": 17, "out_channels": 19},
    ),
    "069": Example(
        "69_Conv2d_HardSwish_ReLU",
        ((128, 8, 128, 128),),
        (128, 64, 126, 126),
        hardswish_relu,
        {"batch": 2, "in_channels": 3, "height": 9, "width": 12, "out_channels": 19},
    ),
    "071": Example(
        "71_Conv2d_Divide_LeakyReLU",
        ((128, 8, 128, 128),),
        (128, 64, 126, 126),
        divide_leaky_relu,
        {"batch": 2, "in_channels": 3, "height": 19, "width": 21, "out_channels": 6},
    ),
    "073": Example(
        "73_Conv2d_BatchNorm_Scaling",
        ((128, 8, 128, 128),),
        (128, 64, 126, 126),
        batch_norm_scaling,
        {"batch": 3, "in_channels": 3, "height": 12, "width": 13, "out_channels": 8},
    ),
    "082": Example(
        "82_Conv2d_Tanh_Scaling_BiasAdd_Max",
        ((128, 8, 256, 256),),
        (128, 64, 63, 63),
        tanh_scaling_max,
        {"batch": 2, "in_channels": 3, "height": 25, "width": 31, "out_channels": 6},
    ),
    "085": Example(
        "85_Conv2d_GroupNorm_Scale_MaxPool_Clamp",
        ((128, 8, 128, 128),),
        (128, 64, 31, 31),
        group_norm_max_clamp,
        {
            "batch": 2,
            "in_channels": 3,
            "height": 25,
            "width": 31,
            "groups": 3,
            "width_of_group": 4,
        },
    ),
    "087": Example(
        "87_Conv2d_Subtract_Subtract_Mish",
        ((128, 8, 256, 256),),
        (128, 64, 254, 254),
        subtract_subtract_mish,
        {"batch": 2, "in_channels": 3, "height": 19, "width": 21, "out_channels": 3},
    ),
    "092": Example(
        "92_Conv2d_GroupNorm_Tanh_HardSwish_ResidualAdd_LogSumExp",
        ((128, 8, 128, 128),),
        (128, 1, 126, 126),
        group_norm_residual_logsumexp,
        {
            "batch": 2,
            "in_channels": 3,
            "height": 11,
            "width": 21,
            "groups": 3,
            "width_of_group": 4,
        },
    ),
}

TestConvolution = checks(EXAMPLES)
