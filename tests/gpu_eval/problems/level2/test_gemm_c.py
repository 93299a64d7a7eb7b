"""Level 2, linear layers: problems 55 to 76 of those that begin with one."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional

from tests.gpu_eval.problems.level2.shared import Example, Model, checks, layer


def linear(s: Mapping[str, int]) -> nn.Linear:
    return nn.Linear(s["in_features"], s["out_features"])


def group_norm_leaky_relu_sum(s: Mapping[str, int]) -> Model:
    gemm = linear(s)
    norm = nn.GroupNorm(num_groups=s["groups"], num_channels=s["out_features"], eps=1e-5)
    leaky = nn.LeakyReLU(negative_slope=0.01)

    def forward(x: Tensor) -> Tensor:
        x = leaky(norm(gemm(x)))
        return x + x

    return Model(forward, layer(gemm) | layer(norm, "norm_weight", "norm_bias"))


def relu_divide(s: Mapping[str, int]) -> Model:
    gemm = linear(s)

    def forward(x: Tensor) -> Tensor:
        return torch.relu(gemm(x)) / 2.0

    return Model(forward, layer(gemm))


def maxpool_sum_scale(s: Mapping[str, int]) -> Model:
    gemm = linear(s)
    pool = nn.MaxPool1d(2)

    def forward(x: Tensor) -> Tensor:
        x = pool(gemm(x).unsqueeze(1)).squeeze(1)
        return torch.sum(x, dim=1) * 0.5

    return Model(forward, layer(gemm))


def sigmoid_sum(s: Mapping[str, int]) -> Model:
    gemm = linear(s)

    def forward(x: Tensor) -> Tensor:
        return torch.sum(torch.sigmoid(gemm(x)), dim=1, keepdim=True)

    return Model(forward, layer(gemm))


def swish_scaling(s: Mapping[str, int]) -> Model:
    gemm = linear(s)

    def forward(x: Tensor) -> Tensor:
        x = gemm(x)
        x = x * torch.sigmoid(x)
        return x * 2.0

    return Model(forward, layer(gemm))


def logsumexp_leaky_relu_gelu(s: Mapping[str, int]) -> Model:
    gemm = linear(s)

    def forward(x: Tensor) -> Tensor:
        x = torch.logsumexp(gemm(x), dim=1, keepdim=True)
        x = functional.leaky_relu(x, negative_slope=0.01)
        x = functional.leaky_relu(x, negative_slope=0.01)
        return functional.gelu(functional.gelu(x))

    return Model(forward, layer(gemm))


def min_subtract(s: Mapping[str, int]) -> Model:
    gemm = linear(s)
    constant = nn.Parameter(torch.tensor(2.0))

    def forward(x: Tensor) -> Tensor:
        return torch.min(gemm(x), constant) - constant

    return Model(forward, layer(gemm) | {"constant": constant})


def sigmoid_scaling_residual_add(s: Mapping[str, int]) -> Model:
    gemm = linear(s)

    def forward(x: Tensor) -> Tensor:
        x = gemm(x)
        original = x
        return torch.sigmoid(x) * 2.0 + original

    return Model(forward, layer(gemm))


def group_norm_min_bias_add(s: Mapping[str, int]) -> Model:
    gemm = linear(s)
    norm = nn.GroupNorm(s["groups"], s["out_features"])
    bias = nn.Parameter(torch.randn((1, s["out_features"], 1, 1)))

    def forward(x: Tensor) -> Tensor:
        return torch.min(norm(gemm(x)), dim=1, keepdim=True)[0] + bias

    names = layer(norm, "norm_weight", "norm_bias")
    return Model(forward, layer(gemm) | names | {"spread_bias": bias})


def add_relu(s: Mapping[str, int]) -> Model:
    gemm = nn.Linear(s["in_features"], s["out_features"], bias=False)
    bias = nn.Parameter(torch.randn((s["out_features"],)))

    def forward(x: Tensor) -> Tensor:
        return torch.relu(gemm(x) + bias)

    return Model(forward, layer(gemm) | {"bias": bias})


EXAMPLES = {
    "055": Example(
        "55_Matmul_MaxPool_Sum_Scale",
        ((128, 32768),),
        (128,),
        maxpool_sum_scale,
        {"batch": 41, "in_features": 37, "out_features": 107},
    ),
    "056": Example(
        "56_Matmul_Sigmoid_Sum",
        ((128, 32768),),
        (128, 1),
        sigmoid_sum,
        {"batch": 19, "in_features": 45, "out_features": 207},
    ),
    "059": Example(
        "59_Matmul_Swish_Scaling",
        ((128, 32768),),
        (128, 32768),
        swish_scaling,
        {"batch": 19, "in_features": 141, "out_features": 39},
    ),
    "062": Example(
        "62_Matmul_GroupNorm_LeakyReLU_Sum",
        ((1024, 8192),),
        (1024, 8192),
        group_norm_leaky_relu_sum,
        {"batch": 45, "in_features": 37, "groups": 3, "width": 16},
    ),
    "063": Example(
        "63_Gemm_ReLU_Divide",
        ((1024, 8192),),
        (1024, 8192),
        relu_divide,
        {"batch": 43, "in_features": 37, "out_features": 71},
    ),
    "064": Example(
        "64_Gemm_LogSumExp_LeakyReLU_LeakyReLU_GELU_GELU",
        ((1024, 8192),),
        (1024, 1),
        logsumexp_leaky_relu_gelu,
        {"batch": 23, "in_features": 37, "out_features": 75},
    ),
    "068": Example(
        "68_Matmul_Min_Subtract",
        ((128, 16384),),
        (128, 16384),
        min_subtract,
        {"batch": 19, "in_features": 45, "out_features": 75},
    ),
    "070": Example(
        "70_Gemm_Sigmoid_Scaling_ResidualAdd",
        ((1024, 8192),),
        (1024, 8192),
        sigmoid_scaling_residual_add,
        {"batch": 37, "in_features": 53, "out_features": 43},
    ),
    "075": Example(
        "75_Gemm_GroupNorm_Min_BiasAdd",
        ((1024, 8192),),
        (1, 8192, 1024, 1),
        group_norm_min_bias_add,
        {"batch": 39, "in_features": 29, "groups": 6, "width": 16},
    ),
    "076": Example(
        "76_Gemm_Add_ReLU",
        ((1024, 8192),),
        (1024, 8192),
        add_relu,
        {"batch": 45, "in_features": 53, "out_features": 69},
    ),
}

TestGemmC = checks(EXAMPLES)
