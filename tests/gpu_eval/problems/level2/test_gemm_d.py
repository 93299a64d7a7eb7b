"""Level 2, linear layers: problems 80 to 99 of those that begin with one."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional

from tests.gpu_eval.problems.level2.shared import Example, Model, checks, layer


def linear(s: Mapping[str, int]) -> nn.Linear:
    return nn.Linear(s["in_features"], s["out_features"])


def swish_divide_clamp_tanh_clamp(s: Mapping[str, int]) -> Model:
    gemm = linear(s)

    def forward(x: Tensor) -> Tensor:
        x = gemm(x)
        x = x * torch.sigmoid(x)
        x = x / 2.0
        x = torch.clamp(x, min=-1.0, max=1.0)
        x = torch.tanh(x)
        return torch.clamp(x, min=-1.0, max=1.0)

    return Model(forward, layer(gemm))


def divide_gelu(s: Mapping[str, int]) -> Model:
    gemm = linear(s)

    def forward(x: Tensor) -> Tensor:
        return functional.gelu(gemm(x) / 10.0)

    return Model(forward, layer(gemm))


def add_swish_tanh_gelu_hardtanh(s: Mapping[str, int]) -> Model:
    gemm = linear(s)
    add_value = nn.Parameter(torch.randn((s["out_features"],)))

    def forward(x: Tensor) -> Tensor:
        x = gemm(x) + add_value
        x = torch.sigmoid(x) * x
        x = functional.gelu(torch.tanh(x))
        return functional.hardtanh(x, min_val=-1, max_val=1)

    return Model(forward, layer(gemm) | {"add_value": add_value})


EXAMPLES = {
    "081": Example(
        "81_Gemm_Swish_Divide_Clamp_Tanh_Clamp",
        ((1024, 8192),),
        (1024, 8192),
        swish_divide_clamp_tanh_clamp,
        {"batch": 35, "in_features": 77, "out_features": 43},
    ),
    "086": Example(
        "86_Matmul_Divide_GELU",
        ((1024, 8192),),
        (1024, 8192),
        divide_gelu,
        {"batch": 37, "in_features": 43, "out_features": 71},
    ),
    "095": Example(
        "95_Matmul_Add_Swish_Tanh_GELU_Hardtanh",
        ((1024, 8192),),
        (1024, 8192),
        add_swish_tanh_gelu_hardtanh,
        {"batch": 21, "in_features": 45, "out_features": 151},
    ),
}

TestGemmD = checks(EXAMPLES)
