"""KernelBench level 1, problem 28: the piecewise linear sigmoid of a matrix."""

import torch
from torch import Tensor

from gpu_eval.problems.definition import Tensors
from gpu_eval.problems.families.elementwise import control, elementwise, flat, in_double, on_rows


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"y": torch.nn.functional.hardsigmoid(tensors["x"])}


def magnitude(tensors: Tensors) -> Tensors:
    """Add |x| / 6 and a half on the slope; 0 and 1 beside it are exact."""
    x = tensors["x"]
    slope = x.abs() / 6 + 0.5
    return {"y": torch.where(x.abs() < 3, slope, reference(tensors)["y"])}


def by_slope(x: Tensor) -> Tensor:
    """Clamp the line x / 6 + 1 / 2."""
    return (x / 6 + 0.5).clamp(0, 1)


def by_reciprocal(x: Tensor) -> Tensor:
    """Multiply by a sixth."""
    return (x + 3).clamp(0, 6) * (1 / 6)


def by_thirds(x: Tensor) -> Tensor:
    """Halve one plus a third of what is clamped before."""
    return (x.clamp(-3, 3) / 3 + 1) * 0.5


SLOPE = on_rows("slope", "hardsigmoid_slope", 512)

PROBLEM = elementwise(
    28,
    "28_HardSigmoid",
    reference,
    substrates=(flat("vectorised", "hardsigmoid_vectorised", 1024, 256), SLOPE),
    controls=(
        control("line", "slope", by_slope),
        control("reciprocal", "reciprocal", by_reciprocal),
        control("thirds", "order", by_thirds),
        in_double(reference),
    ),
    magnitude=magnitude,
    tiles=(2, 512),
)
