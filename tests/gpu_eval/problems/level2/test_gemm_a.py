"""Level 2, linear layers: problems 9 to 53 of those that begin with one."""

from collections.abc import Mapping

import pytest
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


def divide_sum_scaling(s: Mapping[str, int]) -> Model:
    weight = nn.Parameter(torch.randn(s["out_features"], s["in_features"]))

    def forward(x: Tensor) -> Tensor:
        return torch.sum(torch.matmul(x, weight.T) / 2, dim=1, keepdim=True) * 1.5

    return Model(forward, {"weight": weight})


def sum_max_avgpool_logsumexp(s: Mapping[str, int]) -> Model:
    gemm = linear(s)

    def forward(x: Tensor) -> Tensor:
        x = torch.sum(gemm(x), dim=1, keepdim=True)
        x = torch.max(x, dim=1, keepdim=True)[0]
        x = torch.mean(x, dim=1, keepdim=True)
        x = torch.logsumexp(x, dim=1, keepdim=True)
        return torch.logsumexp(x, dim=1, keepdim=True)

    return Model(forward, layer(gemm))


def scale_clamp_logsumexp_mish(s: Mapping[str, int]) -> Model:
    gemm = linear(s)

    def forward(x: Tensor) -> Tensor:
        x = gemm(x) * 2.0
        x = x + x
        x = torch.clamp(x, -10.0, 10.0)
        x = torch.logsumexp(x, dim=1, keepdim=True)
        return x * functional.mish(x)

    return Model(forward, layer(gemm))


def instance_norm_add_multiply(s: Mapping[str, int]) -> Model:
    gemm = linear(s)
    norm = nn.InstanceNorm2d(s["out_features"], eps=1e-5, momentum=0.1)

    def forward(x: Tensor, y: Tensor) -> Tensor:
        x = norm(gemm(x).unsqueeze(1).unsqueeze(1)).squeeze(1).squeeze(1)
        return (x + y) * y

    return Model(forward, layer(gemm))


def mish_mish(s: Mapping[str, int]) -> Model:
    gemm = linear(s)

    def forward(x: Tensor) -> Tensor:
        return functional.mish(functional.mish(gemm(x)))

    return Model(forward, layer(gemm))


def scale_batch_norm(s: Mapping[str, int]) -> Model:
    gemm = linear(s)
    scale = nn.Parameter(torch.randn((s["out_features"],)))
    norm = nn.BatchNorm1d(s["out_features"], eps=1e-5, momentum=0.1)

    def forward(x: Tensor) -> Tensor:
        y: Tensor = norm.to(x.dtype)(gemm(x) * scale)  # the running statistics as well
        return y

    return Model(forward, layer(gemm) | {"scale": scale} | layer(norm, "norm_weight", "norm_bias"))


def swish_sum_group_norm(s: Mapping[str, int]) -> Model:
    gemm = linear(s)
    bias = nn.Parameter(torch.randn((s["out_features"],)))
    norm = nn.GroupNorm(s["groups"], s["out_features"])

    def forward(x: Tensor) -> Tensor:
        x = gemm(x)
        y: Tensor = norm(torch.sigmoid(x) * x + bias)
        return y

    names = layer(norm, "norm_weight", "norm_bias")
    return Model(forward, layer(gemm) | {"added_bias": bias} | names)


def batch_norm_gelu_relu(s: Mapping[str, int]) -> Model:
    gemm = linear(s)
    norm = nn.BatchNorm1d(s["out_features"])

    def forward(x: Tensor) -> Tensor:
        normalised = norm.to(x.dtype)(gemm(x))  # the running statistics as well
        return torch.relu(functional.gelu(normalised))

    return Model(forward, layer(gemm) | layer(norm, "norm_weight", "norm_bias"))


def sigmoid_logsumexp(s: Mapping[str, int]) -> Model:
    first = nn.Linear(s["in_features"], s["hidden_size"])
    second = nn.Linear(s["hidden_size"], s["output_size"])

    def forward(x: Tensor) -> Tensor:
        return torch.logsumexp(second(torch.sigmoid(first(x))), dim=1)

    return Model(forward, layer(first) | layer(second, "weight2", "bias2"))


def scaling_residual_add(s: Mapping[str, int]) -> Model:
    gemm = linear(s)

    def forward(x: Tensor) -> Tensor:
        x = gemm(x)
        original = x.clone().detach()
        return x * 0.5 + original

    return Model(forward, layer(gemm))


def subtract_avgpool_logsumexp_gelu(s: Mapping[str, int]) -> Model:
    gemm = linear(s)
    subtract = nn.Parameter(torch.randn(s["out_features"]))

    def forward(x: Tensor) -> Tensor:
        original = x.clone().detach()
        x = torch.mean(gemm(x) - subtract, dim=1, keepdim=True)
        x = torch.logsumexp(x, dim=1, keepdim=True)
        return functional.gelu(x) + original

    return Model(forward, layer(gemm) | {"subtract": subtract})


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
    "014": Example(
        "14_Gemm_Divide_Sum_Scaling",
        ((1024, 8192),),
        (1024, 1),
        divide_sum_scaling,
        {"batch": 21, "in_features": 75, "out_features": 151},
    ),
    "018": Example(
        "18_Matmul_Sum_Max_AvgPool_LogSumExp_LogSumExp",
        ((1024, 8192),),
        (1024, 1),
        sum_max_avgpool_logsumexp,
        {"batch": 135, "in_features": 21, "out_features": 75},
    ),
    "022": Example(
        "22_Matmul_Scale_ResidualAdd_Clamp_LogSumExp_Mish",
        ((1024, 8192),),
        (1024, 1),
        scale_clamp_logsumexp_mish,
        {"batch": 21, "in_features": 45, "out_features": 139},
    ),
    "028": Example(
        "28_BMM_InstanceNorm_Sum_ResidualAdd_Multiply",
        ((1024, 8192), (1024, 8192)),
        (1024, 8192),
        instance_norm_add_multiply,
        {"batch": 19, "in_features": 29, "out_features": 263},
    ),
    "029": Example(
        "29_Matmul_Mish_Mish",
        ((1024, 8192),),
        (1024, 8192),
        mish_mish,
        {"batch": 21, "in_features": 71, "out_features": 39},
    ),
    "033": Example(
        "33_Gemm_Scale_BatchNorm",
        ((1024, 8192),),
        (1024, 8192),
        scale_batch_norm,
        {"batch": 75, "in_features": 37, "out_features": 43},
    ),
    "037": Example(
        "37_Matmul_Swish_Sum_GroupNorm",
        ((32768, 1024),),
        (32768, 4096),
        swish_sum_group_norm,
        {"batch": 21, "in_features": 43, "groups": 3, "width": 64},
    ),
    "039": Example(
        "39_Gemm_Scale_BatchNorm",
        ((16384, 4096),),
        (16384, 4096),
        scale_batch_norm,
        {"batch": 165, "in_features": 21, "out_features": 27},
    ),
    "040": Example(
        "40_Matmul_Scaling_ResidualAdd",
        ((16384, 4096),),
        (16384, 4096),
        scaling_residual_add,
        {"batch": 165, "in_features": 21, "out_features": 35},
    ),
    "041": Example(
        "41_Gemm_BatchNorm_GELU_ReLU",
        ((16384, 4096),),
        (16384, 4096),
        batch_norm_gelu_relu,
        {"batch": 139, "in_features": 27, "out_features": 37},
    ),
    "045": Example(
        "45_Gemm_Sigmoid_LogSumExp",
        ((16384, 2048),),
        (16384,),
        sigmoid_logsumexp,
        {"batch": 21, "in_features": 37, "hidden_size": 75, "output_size": 83},
    ),
    "051": Example(
        "51_Gemm_Subtract_GlobalAvgPool_LogSumExp_GELU_ResidualAdd",
        ((2048, 8192),),
        (2048, 8192),
        subtract_avgpool_logsumexp_gelu,
        {"batch": 11, "in_features": 71, "out_features": 101},
    ),
    "053": Example(
        "53_Gemm_Scaling_Hardtanh_GELU",
        ((2048, 8192),),
        (2048, 8192),
        scaling_hardtanh_gelu,
        {"batch": 45, "in_features": 37, "out_features": 71},
    ),
}

# Problem 28 names the features of a module that meets one channel, and torch says so.
TestGemmA = pytest.mark.filterwarnings("ignore:input's size at dim=1")(checks(EXAMPLES))
