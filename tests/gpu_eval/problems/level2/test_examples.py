"""Level 2, problems 1, 12, 30, 66 and 78."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from tests.gpu_eval.problems.level2.shared import Example, Model, checks, layer


def conv2d_relu_bias(s: Mapping[str, int]) -> Model:
    conv = nn.Conv2d(s["in_channels"], s["out_channels"], 3)
    bias = nn.Parameter(torch.randn(s["out_channels"], 1, 1))

    def forward(x: Tensor) -> Tensor:
        return torch.relu(conv(x)) + bias

    return Model(forward, layer(conv) | {"channel_bias": bias})


def gemm_multiply_leaky_relu(s: Mapping[str, int]) -> Model:
    gemm = nn.Linear(s["in_features"], s["out_features"])
    leaky_relu = nn.LeakyReLU(0.1)

    def forward(x: Tensor) -> Tensor:
        y: Tensor = leaky_relu(gemm(x) * 2.0)
        return y

    return Model(forward, layer(gemm))


def gemm_group_norm_hardtanh(s: Mapping[str, int]) -> Model:
    gemm = nn.Linear(s["in_features"], s["out_features"])
    group_norm = nn.GroupNorm(16, s["out_features"])
    hardtanh = nn.Hardtanh(min_val=-2.0, max_val=2.0)

    def forward(x: Tensor) -> Tensor:
        y: Tensor = hardtanh(group_norm(gemm(x)))
        return y

    return Model(forward, layer(gemm) | layer(group_norm, "norm_weight", "norm_bias"))


def conv_transpose_max_max_sum(s: Mapping[str, int]) -> Model:
    conv = nn.ConvTranspose3d(s["in_channels"], s["out_channels"], 5, stride=2, padding=2)
    first, second = nn.MaxPool3d(kernel_size=2), nn.MaxPool3d(kernel_size=3)

    def forward(x: Tensor) -> Tensor:
        return torch.sum(second(first(conv(x))), dim=1, keepdim=True)

    return Model(forward, layer(conv))


def matmul_dropout_softmax(s: Mapping[str, int]) -> Model:
    matmul = nn.Linear(s["in_features"], s["out_features"])
    dropout = nn.Dropout(0.2)

    def forward(x: Tensor) -> Tensor:
        return torch.softmax(dropout(matmul(x)), dim=1)

    return Model(forward, layer(matmul))


EXAMPLES = {
    "001": Example(
        "1_Conv2D_ReLU_BiasAdd",
        ((128, 64, 128, 128),),
        (128, 128, 126, 126),
        conv2d_relu_bias,
        {"batch": 2, "in_channels": 3, "height": 11, "width": 21, "out_channels": 5},
    ),
    "012": Example(
        "12_Gemm_Multiply_LeakyReLU",
        ((1024, 8192),),
        (1024, 8192),
        gemm_multiply_leaky_relu,
        {"batch": 35, "in_features": 43, "out_features": 37},
    ),
    "030": Example(
        "30_Gemm_GroupNorm_Hardtanh",
        ((1024, 8192),),
        (1024, 8192),
        gemm_group_norm_hardtanh,
        {"batch": 19, "in_features": 37, "groups": 16, "width": 9},
    ),
    "066": Example(
        "66_Matmul_Dropout_Softmax",
        ((128, 16384),),
        (128, 16384),
        matmul_dropout_softmax,
        {"batch": 11, "in_features": 37, "out_features": 301},
        random=True,
    ),
    "078": Example(
        "78_ConvTranspose3d_Max_Max_Sum",
        ((16, 32, 32, 32, 32),),
        (16, 1, 10, 10, 10),
        conv_transpose_max_max_sum,
        {"batch": 2, "in_channels": 3, "depth": 5, "height": 7, "width": 8, "out_channels": 6},
    ),
}

TestExamples = checks(EXAMPLES)
