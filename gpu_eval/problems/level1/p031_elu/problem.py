"""KernelBench level 1, problem 31: ELU of a matrix."""

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
from gpu_eval.problems.plan import float32, int32

ALPHA = 1.0


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"y": torch.nn.functional.elu(tensors["x"], alpha=ALPHA)}


def by_parts(expm1: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """Add the positive and the negative part, with exp(x) - 1 computed in a given way."""

    def run(x: Tensor) -> Tensor:
        return x.clamp(min=0) + ALPHA * expm1(x.clamp(max=0))

    return run


def by_mixture(x: Tensor) -> Tensor:
    """Halve the argument: exp(x) - 1 = m (m + 2), m = exp(x / 2) - 1."""
    m = torch.expm1(x.clamp(max=0) * 0.5)
    return torch.where(x > 0, x, ALPHA * m * (m + 2))


PROBLEM = elementwise(
    31,
    "31_ELU",
    reference,
    substrates=(
        flat(
            "vectorised",
            "elu_vectorised",
            1024,
            extra=(float32("alpha"),),
            headers=("activation_elu.cuh",),
            resident=True,
        ),
        on_rows(
            "branches",
            "elu_branches",
            16,
            (16, 16),
            rows_per_block=16,
            sizes=(int32("rows"), int32("cols")),
        ),
    ),
    controls=(
        control("tanh", "algorithm", by_parts(expm1_by_tanh)),
        control("sinh", "sinh", by_parts(expm1_by_sinh)),
        control("half", "half_argument", by_mixture),
        in_double(reference),
    ),
    # Tiles of 16 x 16, and one array in steps of 1,024.
    tiles=(16, 64),
    scalars={"alpha": ALPHA},
)
