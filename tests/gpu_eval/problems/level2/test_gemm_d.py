"""Level 2, linear layers: problems 80 to 99 of those that begin with one."""

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from gpu_eval.problems.families.fused import Linear, Pipeline, Reduce, divide, gelu
from gpu_eval.problems.loader import Corpus
from gpu_eval.problems.plan import Launch, int32
from tests.gpu_eval.problems.level2.shared import (
    Example,
    Kernels,
    Model,
    check_kernels,
    checks,
    layer,
)


def linear(s: Mapping[str, int]) -> nn.Linear:
    return nn.Linear(s["in_features"], s["out_features"])


def max_subtract_gelu(s: Mapping[str, int]) -> Model:
    gemm = linear(s)

    def forward(x: Tensor) -> Tensor:
        x = torch.max(gemm(x), dim=1, keepdim=True).values
        x = x - x.mean(dim=1, keepdim=True)
        return functional.gelu(x)

    return Model(forward, layer(gemm))


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


def batch_norm_scaling_softmax(s: Mapping[str, int]) -> Model:
    gemm = linear(s)
    norm = nn.BatchNorm1d(s["out_features"], eps=1e-5, momentum=0.1)
    scale = nn.Parameter(torch.ones((1,)))
    softmax = nn.Softmax(dim=1)

    def forward(x: Tensor) -> Tensor:
        normalised = norm.to(x.dtype)(gemm(x))  # the running statistics as well
        y: Tensor = softmax(scale * normalised)
        return y

    return Model(forward, layer(gemm) | layer(norm, "norm_weight", "norm_bias") | {"scale": scale})


def divide_gelu(s: Mapping[str, int]) -> Model:
    gemm = linear(s)

    def forward(x: Tensor) -> Tensor:
        return functional.gelu(gemm(x) / 10.0)

    return Model(forward, layer(gemm))


def group_norm_swish_multiply_swish(s: Mapping[str, int]) -> Model:
    gemm = linear(s)
    norm = nn.GroupNorm(s["groups"], s["out_features"])
    multiply_weight = nn.Parameter(torch.randn((s["out_features"],)))

    def forward(x: Tensor) -> Tensor:
        x = norm(gemm(x))
        x = x * torch.sigmoid(x)
        x = x * multiply_weight
        return x * torch.sigmoid(x)

    names = layer(norm, "norm_weight", "norm_bias")
    return Model(forward, layer(gemm) | names | {"multiply_weight": multiply_weight})


def bias_hardtanh_mish_group_norm(s: Mapping[str, int]) -> Model:
    gemm = linear(s)
    bias = nn.Parameter(torch.randn((s["out_features"],)))
    hardtanh, mish = nn.Hardtanh(), nn.Mish()
    norm = nn.GroupNorm(num_groups=s["groups"], num_channels=s["out_features"])

    def forward(x: Tensor) -> Tensor:
        y: Tensor = norm(mish(hardtanh(gemm(x) + bias)))
        return y

    names = layer(norm, "norm_weight", "norm_bias")
    return Model(forward, layer(gemm) | {"added_bias": bias} | names)


def add_swish_tanh_gelu_hardtanh(s: Mapping[str, int]) -> Model:
    gemm = linear(s)
    add_value = nn.Parameter(torch.randn((s["out_features"],)))

    def forward(x: Tensor) -> Tensor:
        x = gemm(x) + add_value
        x = torch.sigmoid(x) * x
        x = functional.gelu(torch.tanh(x))
        return functional.hardtanh(x, min_val=-1, max_val=1)

    return Model(forward, layer(gemm) | {"add_value": add_value})


def batch_norm_bias_divide_swish(s: Mapping[str, int]) -> Model:
    matmul = linear(s)
    norm = nn.BatchNorm1d(s["out_features"], eps=1e-5, momentum=0.1)
    bias = nn.Parameter(torch.randn((1,)))

    def forward(x: Tensor) -> Tensor:
        x = norm.to(x.dtype)(matmul(x))  # the running statistics as well
        x = (x + bias) / 1.0
        return x * torch.sigmoid(x)

    names = layer(norm, "norm_weight", "norm_bias")
    return Model(forward, layer(matmul) | names | {"added_bias": bias})


def avgpool_gelu_scale_max(s: Mapping[str, int]) -> Model:
    matmul = linear(s)
    avg_pool = nn.AvgPool1d(kernel_size=16)

    def forward(x: Tensor) -> Tensor:
        x = avg_pool(matmul(x).unsqueeze(1)).squeeze(1)
        x = functional.gelu(x) * 2.0
        return torch.max(x, dim=1).values

    return Model(forward, layer(matmul))


def gelu_softmax(s: Mapping[str, int]) -> Model:
    gemm = linear(s)

    def forward(x: Tensor) -> Tensor:
        return functional.softmax(functional.gelu(gemm(x)), dim=1)

    return Model(forward, layer(gemm))


EXAMPLES = {
    "080": Example(
        "80_Gemm_Max_Subtract_GELU",
        ((1024, 8192),),
        (1024, 1),
        max_subtract_gelu,
        {"batch": 7, "in_features": 141, "out_features": 75},
    ),
    "081": Example(
        "81_Gemm_Swish_Divide_Clamp_Tanh_Clamp",
        ((1024, 8192),),
        (1024, 8192),
        swish_divide_clamp_tanh_clamp,
        {"batch": 35, "in_features": 77, "out_features": 43},
    ),
    "084": Example(
        "84_Gemm_BatchNorm_Scaling_Softmax",
        ((1024, 8192),),
        (1024, 8192),
        batch_norm_scaling_softmax,
        {"batch": 37, "in_features": 45, "out_features": 139},
    ),
    "086": Example(
        "86_Matmul_Divide_GELU",
        ((1024, 8192),),
        (1024, 8192),
        divide_gelu,
        {"batch": 37, "in_features": 43, "out_features": 71},
    ),
    "088": Example(
        "88_Gemm_GroupNorm_Swish_Multiply_Swish",
        ((1024, 8192),),
        (1024, 8192),
        group_norm_swish_multiply_swish,
        {"batch": 37, "in_features": 43, "groups": 3, "width": 32},
    ),
    "094": Example(
        "94_Gemm_BiasAdd_Hardtanh_Mish_GroupNorm",
        ((1024, 8192),),
        (1024, 8192),
        bias_hardtanh_mish_group_norm,
        {"batch": 37, "in_features": 75, "groups": 5, "width": 32},
    ),
    "095": Example(
        "95_Matmul_Add_Swish_Tanh_GELU_Hardtanh",
        ((1024, 8192),),
        (1024, 8192),
        add_swish_tanh_gelu_hardtanh,
        {"batch": 21, "in_features": 45, "out_features": 83},
    ),
    "097": Example(
        "97_Matmul_BatchNorm_BiasAdd_Divide_Swish",
        ((1024, 8192),),
        (1024, 8192),
        batch_norm_bias_divide_swish,
        {"batch": 139, "in_features": 27, "out_features": 71},
    ),
    "098": Example(
        "98_Matmul_AvgPool_GELU_Scale_Max",
        ((1024, 8192),),
        (1024,),
        avgpool_gelu_scale_max,
        {"batch": 37, "in_features": 45, "out_features": 155},
    ),
    "099": Example(
        "99_Matmul_GELU_Softmax",
        ((1024, 8192),),
        (1024, 8192),
        gelu_softmax,
        {"batch": 21, "in_features": 43, "out_features": 139},
    ),
}

TestGemmD = checks(EXAMPLES)


@pytest.mark.skipif(shutil.which("g++") is None, reason="the host device needs g++")
def test_maxima_that_a_difference_of_zero_hides(corpus: Corpus, tmp_path: Path) -> None:
    """Problem 80's kernels are right about the rows' maxima as well."""
    problem = corpus.problem("level2/080")
    (substrate,) = problem.substrates
    product, after = substrate.plan.steps
    assert isinstance(after, Launch)
    assert after.arguments[-1] == int32("1")
    # A mean over two columns takes half of the maximum away, and half is left to be seen.
    halved = replace(after, arguments=(*after.arguments[:-1], int32("2")))
    plan = replace(substrate.plan, steps=(product, halved))
    shown = Pipeline((Linear(), Reduce("max"), divide(2.0), gelu()))
    changed = replace(
        problem,
        reference=shown.reference,
        magnitude=shown.magnitude,
        substrates=(replace(substrate, plan=plan),),
    )
    check_kernels(changed, EXAMPLES["080"], Kernels([changed], tmp_path))
