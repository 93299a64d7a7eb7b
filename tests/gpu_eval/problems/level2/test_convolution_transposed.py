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
        y: Tensor = conv(x) + add_input
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


def max_hardtanh_mean_tanh(s: Mapping[str, int]) -> Model:
    conv = nn.ConvTranspose2d(s["in_channels"], s["out_channels"], 3, stride=1, padding=1)
    pool = nn.MaxPool2d(kernel_size=2, stride=2)
    hardtanh = nn.Hardtanh(min_val=-1, max_val=1)

    def forward(x: Tensor) -> Tensor:
        return torch.tanh(torch.mean(hardtanh(pool(conv(x))), dim=(2, 3), keepdim=True))

    return Model(forward, layer(conv))


def min_sum_gelu_add(s: Mapping[str, int]) -> Model:
    conv = nn.ConvTranspose2d(s["in_channels"], s["out_channels"], 3, 2, 1, 1)
    bias = nn.Parameter(torch.randn(1, 1, 1))

    def forward(x: Tensor) -> Tensor:
        y = torch.min(conv(x), dim=1, keepdim=True)[0]
        return functional.gelu(torch.sum(y, dim=2, keepdim=True)) + bias

    return Model(forward, layer(conv) | {"last_bias": bias})


def average_add_logsumexp(s: Mapping[str, int]) -> Model:
    conv = nn.ConvTranspose2d(s["in_channels"], s["out_channels"], 3)
    bias = nn.Parameter(torch.randn(s["out_channels"], 1, 1))

    def forward(x: Tensor) -> Tensor:
        y = torch.mean(conv(x), dim=(2, 3), keepdim=True) + bias
        return torch.sum(torch.logsumexp(y, dim=1, keepdim=True), dim=(2, 3)) * 10.0

    return Model(forward, layer(conv) | {"mean_bias": bias})


def multiply_average_average(s: Mapping[str, int]) -> Model:
    conv = nn.ConvTranspose2d(
        s["in_channels"], s["out_channels"], 3, stride=2, padding=1, output_padding=1
    )

    def forward(x: Tensor) -> Tensor:
        y = torch.mean(conv(x) * 0.5, dim=[2, 3], keepdim=True)
        return torch.mean(y, dim=[2, 3], keepdim=True)

    return Model(forward, layer(conv))


def softmax_add_scale_sigmoid(s: Mapping[str, int]) -> Model:
    conv = nn.ConvTranspose2d(
        s["in_channels"], s["out_channels"], 4, stride=2, padding=1, output_padding=1
    )
    bias = nn.Parameter(torch.randn(s["out_channels"], 1, 1))

    def forward(x: Tensor) -> Tensor:
        return torch.sigmoid((torch.softmax(conv(x), dim=1) + bias) * 2.0)

    return Model(forward, layer(conv) | {"added": bias})


def add_residual_multiply_residual(s: Mapping[str, int]) -> Model:
    conv = nn.ConvTranspose3d(
        s["in_channels"], s["out_channels"], 3, stride=2, padding=1, output_padding=1
    )
    bias = nn.Parameter(torch.randn(s["out_channels"], 1, 1, 1))

    def forward(x: Tensor) -> Tensor:
        original: Tensor = conv(x)
        return (original + bias + original) * original + original

    return Model(forward, layer(conv) | {"sum_bias": bias})


def logsumexp_ramp_subtract_clamp(s: Mapping[str, int]) -> Model:
    conv = nn.ConvTranspose3d(s["in_channels"], s["out_channels"], 3, stride=2, padding=1)
    bias = nn.Parameter(torch.randn(1, 1, 1, 1))

    def forward(x: Tensor) -> Tensor:
        y = torch.logsumexp(conv(x), dim=1, keepdim=True)
        y = y * torch.sigmoid(y + 3) / 6 - bias
        return torch.clamp(y, min=-1, max=1)

    return Model(forward, layer(conv) | {"subtrahend": bias})


def gelu_group_norm(s: Mapping[str, int]) -> Model:
    conv = nn.ConvTranspose2d(s["in_channels"], s["out_channels"], 3, stride=1)
    norm = nn.GroupNorm(num_groups=8, num_channels=s["out_channels"])

    def forward(x: Tensor) -> Tensor:
        y: Tensor = norm(functional.gelu(conv(x)))
        return y

    return Model(forward, layer(conv) | layer(norm, "norm_weight", "norm_bias"))


def relu_group_norm(s: Mapping[str, int]) -> Model:
    conv = nn.ConvTranspose3d(s["in_channels"], s["out_channels"], 3, bias=False)
    norm = nn.GroupNorm(num_groups=8, num_channels=s["out_channels"])

    def forward(x: Tensor) -> Tensor:
        y: Tensor = norm(torch.relu(conv(x)))
        return y

    return Model(forward, layer(conv) | layer(norm, "norm_weight", "norm_bias"))


def batch_norm_tanh_max_group_norm(s: Mapping[str, int]) -> Model:
    conv = nn.ConvTranspose2d(s["in_channels"], s["out_channels"], 5, stride=1, padding=1)
    batch_norm = nn.BatchNorm2d(s["out_channels"])
    pool = nn.MaxPool2d(kernel_size=2, stride=2)
    group_norm = nn.GroupNorm(num_groups=8, num_channels=s["out_channels"])

    def forward(x: Tensor) -> Tensor:
        y: Tensor = group_norm(pool(torch.tanh(batch_norm.to(x.dtype)(conv(x)))))
        return y

    norms = layer(batch_norm, "batch_weight", "batch_bias")
    norms |= layer(group_norm, "group_weight", "group_bias")
    return Model(forward, layer(conv) | norms)


def batch_norm_subtract_mean(s: Mapping[str, int]) -> Model:
    conv = nn.ConvTranspose3d(
        s["in_channels"], s["out_channels"], 3, stride=2, padding=1, bias=True
    )
    norm = nn.BatchNorm3d(s["out_channels"])

    def forward(x: Tensor) -> Tensor:
        y: Tensor = norm.to(x.dtype)(conv(x))
        return y - torch.mean(y, dim=(2, 3, 4), keepdim=True)

    return Model(forward, layer(conv) | layer(norm, "norm_weight", "norm_bias"))


def scale_batch_norm_average(s: Mapping[str, int]) -> Model:
    conv = nn.ConvTranspose3d(s["in_channels"], s["out_channels"], 5)
    norm = nn.BatchNorm3d(s["out_channels"], eps=1e-5, momentum=0.1)
    average = nn.AdaptiveAvgPool3d((1, 1, 1))

    def forward(x: Tensor) -> Tensor:
        y: Tensor = average(norm.to(x.dtype)(conv(x) * 2.0))
        return y

    return Model(forward, layer(conv) | layer(norm, "norm_weight", "norm_bias"))


def swish_group_norm_hardswish(s: Mapping[str, int]) -> Model:
    conv = nn.ConvTranspose3d(
        s["in_channels"], s["out_channels"], 3, stride=2, padding=1, bias=True
    )
    norm = nn.GroupNorm(num_groups=4, num_channels=s["out_channels"], eps=1e-5)

    def forward(x: Tensor) -> Tensor:
        y = conv(x)
        return functional.hardswish(norm(torch.sigmoid(y) * y))

    return Model(forward, layer(conv) | layer(norm, "norm_weight", "norm_bias"))


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
        {"batch": 2, "in_channels": 3, "height": 8, "width": 9, "out_channels": 11},
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
        {"batch": 2, "in_channels": 3, "depth": 6, "height": 7, "width": 8, "out_channels": 3},
    ),
    "096": Example(
        "96_ConvTranspose3d_Multiply_Max_GlobalAvgPool_Clamp",
        ((128, 3, 16, 32, 32),),
        (128, 16, 1, 1, 1),
        multiply_max_average_clamp,
        {"batch": 2, "in_channels": 3, "depth": 6, "height": 7, "width": 9, "out_channels": 2},
    ),
    "010": Example(
        "10_ConvTranspose2d_MaxPool_Hardtanh_Mean_Tanh",
        ((128, 64, 256, 256),),
        (128, 64, 1, 1),
        max_hardtanh_mean_tanh,
        {"batch": 2, "in_channels": 3, "height": 11, "width": 35, "out_channels": 3},
    ),
    "036": Example(
        "36_ConvTranspose2d_Min_Sum_GELU_Add",
        ((16, 64, 128, 128),),
        (16, 1, 1, 256),
        min_sum_gelu_add,
        {"batch": 2, "in_channels": 3, "height": 3, "width": 18, "out_channels": 10},
    ),
    "042": Example(
        "42_ConvTranspose2d_GlobalAvgPool_BiasAdd_LogSumExp_Sum_Multiply",
        ((16, 64, 512, 512),),
        (16, 1),
        average_add_logsumexp,
        {"batch": 3, "in_channels": 3, "height": 9, "width": 14, "out_channels": 11},
    ),
    "044": Example(
        "44_ConvTranspose2d_Multiply_GlobalAvgPool_GlobalAvgPool_Mean",
        ((16, 64, 128, 128),),
        (16, 128, 1, 1),
        multiply_average_average,
        {"batch": 2, "in_channels": 3, "height": 17, "width": 35, "out_channels": 2},
    ),
    "091": Example(
        "91_ConvTranspose2d_Softmax_BiasAdd_Scaling_Sigmoid",
        ((128, 64, 64, 64),),
        (128, 128, 129, 129),
        softmax_add_scale_sigmoid,
        {"batch": 2, "in_channels": 3, "height": 3, "width": 5, "out_channels": 13},
    ),
    "020": Example(
        "20_ConvTranspose3d_Sum_ResidualAdd_Multiply_ResidualAdd",
        ((16, 32, 16, 32, 32),),
        (16, 64, 32, 64, 64),
        add_residual_multiply_residual,
        {"batch": 2, "in_channels": 17, "depth": 4, "height": 4, "width": 5, "out_channels": 5},
    ),
    "058": Example(
        "58_ConvTranspose3d_LogSumExp_HardSwish_Subtract_Clamp",
        ((128, 3, 16, 32, 32),),
        (128, 1, 31, 63, 63),
        logsumexp_ramp_subtract_clamp,
        {"batch": 2, "in_channels": 2, "depth": 3, "height": 5, "width": 4, "out_channels": 7},
    ),
    "019": Example(
        "19_ConvTranspose2d_GELU_GroupNorm",
        ((128, 64, 256, 256),),
        (128, 64, 258, 258),
        gelu_group_norm,
        {
            "batch": 2,
            "in_channels": 3,
            "height": 5,
            "width": 15,
            "groups": 8,
            "group_width": 2,
        },
    ),
    "061": Example(
        "61_ConvTranspose3d_ReLU_GroupNorm",
        ((16, 64, 32, 32, 32),),
        (16, 128, 34, 34, 34),
        relu_group_norm,
        {
            "batch": 2,
            "in_channels": 3,
            "depth": 2,
            "height": 7,
            "width": 2,
            "groups": 8,
            "group_width": 2,
        },
    ),
    "011": Example(
        "11_ConvTranspose2d_BatchNorm_Tanh_MaxPool_GroupNorm",
        ((512, 64, 32, 32),),
        (512, 128, 17, 17),
        batch_norm_tanh_max_group_norm,
        {
            "batch": 3,
            "in_channels": 3,
            "height": 7,
            "width": 16,
            "groups": 8,
            "group_width": 2,
        },
    ),
    "015": Example(
        "15_ConvTranspose3d_BatchNorm_Subtract",
        ((16, 16, 16, 32, 32),),
        (16, 32, 31, 63, 63),
        batch_norm_subtract_mean,
        {"batch": 3, "in_channels": 3, "depth": 5, "height": 5, "width": 6, "out_channels": 2},
    ),
    "077": Example(
        "77_ConvTranspose3d_Scale_BatchNorm_GlobalAvgPool",
        ((16, 64, 16, 32, 32),),
        (16, 128, 1, 1, 1),
        scale_batch_norm_average,
        {"batch": 3, "in_channels": 2, "depth": 3, "height": 4, "width": 5, "out_channels": 3},
    ),
    "060": Example(
        "60_ConvTranspose3d_Swish_GroupNorm_HardSwish",
        ((128, 3, 16, 32, 32),),
        (128, 16, 31, 63, 63),
        swish_group_norm_hardswish,
        {
            "batch": 2,
            "in_channels": 3,
            "depth": 3,
            "height": 3,
            "width": 6,
            "groups": 4,
            "group_width": 3,
        },
    ),
}

TestConvolutionTransposed = checks(EXAMPLES)
