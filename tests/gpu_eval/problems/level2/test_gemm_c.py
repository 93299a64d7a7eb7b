"""Level 2, linear layers: problems 55 to 76 of those that begin with one."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from tests.gpu_eval.problems.level2.shared import Example, Model, checks, layer


def linear(s: Mapping[str, int]) -> nn.Linear:
    return nn.Linear(s["in_features"], s["out_features"])


def relu_divide(s: Mapping[str, int]) -> Model:
    gemm = linear(s)

    def forward(x: Tensor) -> Tensor:
        return torch.relu(gemm(x)) / 2.0

    return Model(forward, layer(gemm))


def swish_scaling(s: Mapping[str, int]) -> Model:
    gemm = linear(s)

    def forward(x: Tensor) -> Tensor:
        x = gemm(x)
        x = x * torch.sigmoid(x)
        return x * 2.0

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


def add_relu(s: Mapping[str, int]) -> Model:
    gemm = nn.Linear(s["in_features"], s["out_features"], bias=False)
    bias = nn.Parameter(torch.randn((s["out_features"],)))

    def forward(x: Tensor) -> Tensor:
        return torch.relu(gemm(x) + bias)

    return Model(forward, layer(gemm) | {"bias": bias})


EXAMPLES = {
    "059": Example(
        "59_Matmul_Swish_Scaling",
        ((128, 32768),),
        (128, 32768),
        swish_scaling,
        {"batch": 19, "in_features": 141, "out_features": 39},
    ),
    "063": Example(
        "63_Gemm_ReLU_Divide",
        ((1024, 8192),),
        (1024, 8192),
        relu_divide,
        {"batch": 43, "in_features": 37, "out_features": 71},
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
    "076": Example(
        "76_Gemm_Add_ReLU",
        ((1024, 8192),),
        (1024, 8192),
        add_relu,
        {"batch": 45, "in_features": 53, "out_features": 69},
    ),
}

TestGemmC = checks(EXAMPLES)
