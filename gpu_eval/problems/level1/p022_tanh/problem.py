"""KernelBench level 1, problem 22: the hyperbolic tangent of a matrix."""

import torch
from torch import Tensor

from gpu_eval.problems.definition import Tensors
from gpu_eval.problems.families.elementwise import (
    control,
    elementwise,
    flat,
    in_double,
    on_rows,
    tanh_by_expm1,
)
from gpu_eval.problems.plan import int32

FLAT = 20.0
"""Where the tangent is 1 to the last digit of fp32 (and of fp64), and cosh far from overflow."""


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"y": torch.tanh(tensors["x"])}


def by_quotient(x: Tensor) -> Tensor:
    """Divide the hyperbolic sine by the cosine."""
    inner = x.clamp(-FLAT, FLAT)
    return torch.sinh(inner) / torch.cosh(inner)


def by_half_angle(x: Tensor) -> Tensor:
    """Use the tangent of half the argument."""
    t = torch.tanh(x * 0.5)
    return 2 * t / (1 + t * t)


PROBLEM = elementwise(
    22,
    "22_Tanh",
    reference,
    substrates=(
        flat("double_vector", "tanh_double_vector", 1024),
        on_rows("expm1", "tanh_expm1", 512, (256, 1), sizes=(int32("cols"), int32("512"))),
    ),
    controls=(
        control("expm1-form", "algorithm", tanh_by_expm1),
        control("quotient", "quotient", by_quotient),
        control("half-angle", "half_angle", by_half_angle),
        in_double(reference),
    ),
    tiles=(2, 512),
)
