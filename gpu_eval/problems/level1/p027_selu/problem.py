"""KernelBench level 1, problem 27: SELU of a matrix."""

from collections.abc import Callable

import torch
from torch import Tensor

from gpu_eval.problems.definition import Tensors
from gpu_eval.problems.families.elementwise import (
    control,
    elementwise,
    expm1_by_sinh,
    expm1_by_tanh,
    flat,
    in_double,
    on_rows,
)
from gpu_eval.problems.plan import int32

# Klambauer et al., Self-Normalizing Neural Networks, 2017: the fixed point (0, 1).
ALPHA = 1.6732632423543772848170429916717
SCALE = 1.0507009873554804934193349852946


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"y": torch.selu(tensors["x"])}


def by_sides(expm1: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """Scale, after choosing the side, with exp(x) - 1 computed in a given way."""

    def run(x: Tensor) -> Tensor:
        return SCALE * torch.where(x > 0, x, ALPHA * expm1(x.clamp(max=0)))

    return run


def by_parts(x: Tensor) -> Tensor:
    """Add the positive and the negative part, each with one constant."""
    below = torch.expm1(x.clamp(max=0)) * (SCALE * ALPHA)
    return x.clamp(min=0) * SCALE + below


PROBLEM = elementwise(
    27,
    "27_SELU_",
    reference,
    substrates=(
        flat("folded", "selu_folded", 2048, 256, resident=True),
        on_rows(
            "scaled_elu",
            "selu_scaled_elu",
            32,
            (32, 4),
            rows_per_block=4,
            sizes=(int32("rows"), int32("cols")),
            headers=("activation_elu.cuh",),
        ),
    ),
    controls=(
        control("scaled", "order", by_sides(torch.expm1)),
        control("parts", "parts", by_parts),
        control("tanh", "algorithm", by_sides(expm1_by_tanh)),
        control("sinh", "sinh", by_sides(expm1_by_sinh)),
        in_double(reference),
    ),
    # Tiles of 4 x 32, and one array in steps of 2,048.
    tiles=(8, 256),
)
