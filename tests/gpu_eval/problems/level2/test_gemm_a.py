"""Level 2, linear layers: problems 9 to 53 of those that begin with one."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional

from tests.gpu_eval.problems.level2.shared import Example, Model, checks, layer


def linear(s: Mapping[str, int]) -> nn.Linear:
    return nn.Linear(s["in_features"], s["out_features"])


def subtract_multiply_relu(s: Mapping[str, int]) -> Model:
    gemm = linear(s)

    def forward(x: Tensor) -> Tensor:
        return torch.relu((gemm(x) - 2.0) * 1.5)

    return Model(forward, layer(gemm))


def mish_mish(s: Mapping[str, int]) -> Model:
    gemm = linear(s)

    def forward(x: Tensor) -> Tensor:
        return functional.mish(functional.mish(gemm(x)))

    return Model(forward, layer(gemm))


def scaling_residual_add(s: Mapping[str, int]) -> Model:
    gemm = linear(s)

    def forward(x: Tensor) -> Tensor:
        x = gemm(x)
        original = x.clone().detach()
        return x * 0.5 + original

    return Model(forward, layer(gemm))


def scaling_hardtanh_gelu(s: Mapping[str, int]) -> Model:
    gemm = linear(s)
    hardtanh, gelu = nn.Hardtanh(min_val=-2, max_val=2), nn.GELU()

    def forward(x: Tensor) -> Tensor:
        y: Tensor = gelu(hardtanh(gemm(x) * 0.5))
        return y

    return Model(forward, layer(gemm))


EXAMPLES = {
    "009": Example(
        "9_Matmul_Subtract_Multiply_ReLU",
        ((1024, 8192),),
        (1024, 8192),
        subtract_multiply_relu,
        {"batch": 37, "in_features": 45, "out_features": 43},
    ),
    "029": Example(
        "29_Matmul_Mish_Mish",
        ((1024, 8192),),
        (1024, 8192),
        mish_mish,
        {"batch": 21, "in_features": 71, "out_features": 39},
    ),
    "040": Example(
        "40_Matmul_Scaling_ResidualAdd",
        ((16384, 4096),),
        (16384, 4096),
        scaling_residual_add,
        {"batch": 165, "in_features": 21, "out_features": 35},
    ),
    "053": Example(
        "53_Gemm_Scaling_Hardtanh_GELU",
        ((2048, 8192),),
        (2048, 8192),
        scaling_hardtanh_gelu,
        {"batch": 45, "in_features": 37, "out_features": 71},
    ),
}

TestGemmA = checks(EXAMPLES)
