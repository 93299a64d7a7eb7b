"""KernelBench level 1, problem 20: leaky ReLU of a matrix."""

import math

import torch
from torch import Tensor

from gpu_eval.problems.definition import Tensors
from gpu_eval.problems.families.elementwise import control, elementwise, flat, in_double, on_rows
from gpu_eval.problems.plan import float32, int32

SLOPE = 0.01


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"y": torch.nn.functional.leaky_relu(tensors["x"], negative_slope=SLOPE)}


def by_division(x: Tensor) -> Tensor:
    """Divide by the slope's reciprocal."""
    return torch.where(x > 0, x, x / (1 / SLOPE))


def by_parts(x: Tensor) -> Tensor:
    """Add the positive part, and the negative part by a power of two and what is left of it."""
    below = x.clamp(max=0)
    return x.clamp(min=0) + (below * 2**-7 + below * (SLOPE - 2**-7))


def by_powers(x: Tensor) -> Tensor:
    """Multiply the negative part twice, by the root of the slope."""
    root = math.sqrt(SLOPE)
    return x.clamp(min=0) + x.clamp(max=0) * root * root


PROBLEM = elementwise(
    20,
    "20_LeakyReLU",
    reference,
    substrates=(
        flat("one_vector", "leaky_relu_one_vector", 512, extra=(float32("slope"),)),
        on_rows(
            "tiles",
            "leaky_relu_tiles",
            64,
            (32, 8),
            rows_per_block=16,
            sizes=(int32("rows"), int32("cols"), float32("slope")),
        ),
    ),
    controls=(
        control("division", "division", by_division),
        control("parts", "order", by_parts),
        control("powers", "factors", by_powers),
        in_double(reference),
    ),
    # Tiles of 16 x 64, and one array in steps of 512.
    tiles=(16, 64),
    scalars={"slope": SLOPE},
)
