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


def add_relu(s: Mapping[str, int]) -> Model:
    gemm = nn.Linear(s["in_features"], s["out_features"], bias=False)
    bias = nn.Parameter(torch.randn((s["out_features"],)))

    def forward(x: Tensor) -> Tensor:
        return torch.relu(gemm(x) + bias)

    return Model(forward, layer(gemm) | {"bias": bias})


EXAMPLES = {
    "063": Example(
        "63_Gemm_ReLU_Divide",
        ((1024, 8192),),
        (1024, 8192),
        relu_divide,
        {"batch": 43, "in_features": 37, "out_features": 71},
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
