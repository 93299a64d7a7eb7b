"""Activations of fused problems, each with another formula for the same numbers."""

import math

import torch
from torch import Tensor
from torch.nn import functional

from gpu_eval.problems.families.elementwise import logistic_by_size, tanh_by_expm1
from gpu_eval.problems.families.fused_pointwise import Pointwise

_LINEAR_FROM = 20.0
"""Beyond it tanh(log(1 + exp(x))) is 1 in fp32 and in fp64."""


def _as_is(size: Tensor) -> Tensor:
    return size


def _gelu_by_complement(x: Tensor) -> Tensor:
    return x * (torch.erfc(x * -math.sqrt(0.5)) * 0.5)


def _mish_by_quotient(x: Tensor) -> Tensor:
    """Write tanh(log(1 + e)) as (e^2 + 2 e) / (e^2 + 2 e + 2)."""
    e = torch.exp(x.clamp(max=_LINEAR_FROM))
    n = e * (e + 2)
    return torch.where(x > _LINEAR_FROM, x, x * (n / (n + 2)))


def _hardswish_by_sixth(x: Tensor) -> Tensor:
    return x * (x * (1 / 6) + 0.5).clamp(0, 1)


def gelu() -> Pointwise:
    """Return x (1 + erf(x / sqrt 2)) / 2; formulas with 1 + erf cancel where x is negative."""
    return Pointwise(functional.gelu, _gelu_by_complement, _as_is)


def sigmoid() -> Pointwise:
    """Return 1 / (1 + exp(-x))."""
    return Pointwise(torch.sigmoid, logistic_by_size)


def tanh() -> Pointwise:
    """Return the hyperbolic tangent."""
    return Pointwise(torch.tanh, tanh_by_expm1)


def swish() -> Pointwise:
    """Return x sigmoid(x), two roundings of the library."""
    return Pointwise(lambda x: x * torch.sigmoid(x), lambda x: x * logistic_by_size(x))


def mish() -> Pointwise:
    """Return x tanh(log(1 + exp(x)))."""
    return Pointwise(functional.mish, _mish_by_quotient)


def hardswish() -> Pointwise:
    """Return x clamp(x + 3, 0, 6) / 6; the sum cancels near -3."""
    return Pointwise(functional.hardswish, _hardswish_by_sixth, _as_is)
