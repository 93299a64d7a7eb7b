"""KernelBench level 1, problem 88: GELU of a matrix, approximated by a hyperbolic tangent."""

import math

import torch
from torch import Tensor

from gpu_eval.problems.definition import Tensors
from gpu_eval.problems.families.elementwise import (
    control,
    elementwise,
    flat,
    in_double,
    logistic_by_size,
    on_rows,
    tanh_by_expm1,
)
from gpu_eval.problems.plan import int32

ROOT = math.sqrt(2.0 / math.pi)
CUBIC = 0.044715


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    x = tensors["x"]
    return {"y": 0.5 * x * (1.0 + torch.tanh(ROOT * (x + CUBIC * torch.pow(x, 3.0))))}


def magnitude(tensors: Tensors) -> Tensors:
    """Add where the formula cancels: one and a tangent near minus one."""
    x = tensors["x"].abs()
    return {"y": 0.5 * x * (1.0 + torch.tanh(ROOT * (x + CUBIC * x**3)))}


def by_library(x: Tensor) -> Tensor:
    """Use the library's function for this approximation."""
    return torch.nn.functional.gelu(x, approximate="tanh")


def by_horner(x: Tensor) -> Tensor:
    """Factor x out of the cubic, and the root into its coefficients."""
    inner = x * (ROOT + (ROOT * CUBIC) * (x * x))
    return x * (0.5 + 0.5 * torch.tanh(inner))


def by_logistic(x: Tensor) -> Tensor:
    """Multiply x by the logistic function of twice the inner term."""
    return x * logistic_by_size(2 * ROOT * (x + CUBIC * x * x * x))


def by_expm1(x: Tensor) -> Tensor:
    """Compute the tangent from exp(-2|x|) - 1."""
    half = 0.5 * x
    return half + half * tanh_by_expm1(ROOT * (x + CUBIC * x * x * x))


LOGISTIC = on_rows(
    "logistic",
    "mingpt_gelu_logistic",
    32,
    (16, 8),
    rows_per_block=8,
    sizes=(int32("rows"), int32("cols")),
    headers=("activation_sigmoid.cuh",),
)

PROBLEM = elementwise(
    88,
    "88_MinGPTNewGelu",
    reference,
    substrates=(flat("tanh_form", "mingpt_gelu_tanh", 512), LOGISTIC),
    controls=(
        control("library", "library", by_library),
        control("horner", "order", by_horner),
        control("sigmoid", "algorithm", by_logistic),
        control("expm1", "expm1", by_expm1),
        in_double(reference),
    ),
    magnitude=magnitude,
    sizes=(8192, 8192),
    # Tiles of 8 x 32, and one array in steps of 512.
    tiles=(32, 32),
)
