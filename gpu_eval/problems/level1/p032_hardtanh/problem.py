"""KernelBench level 1, problem 32: a matrix, clamped to [-1, 1]."""

import torch
from torch import Tensor

from gpu_eval.problems.definition import Tensors
from gpu_eval.problems.families.elementwise import control, elementwise, flat, on_rows
from gpu_eval.problems.plan import float32, int32

LOW = -1.0
HIGH = 1.0


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"y": torch.nn.functional.hardtanh(tensors["x"], min_val=LOW, max_val=HIGH)}


def by_clamp(x: Tensor) -> Tensor:
    """Clamp from both sides at once."""
    return x.clamp(LOW, HIGH)


def by_select(x: Tensor) -> Tensor:
    """Put the bounds where x is beyond them; NaN is not."""
    bounded = torch.where(x < LOW, torch.full_like(x, LOW), x)
    return torch.where(x > HIGH, torch.full_like(x, HIGH), bounded)


def by_extrema(x: Tensor) -> Tensor:
    """Take the smaller of the upper bound and the larger of the lower; NaN stays."""
    return torch.minimum(torch.maximum(x, torch.full_like(x, LOW)), torch.full_like(x, HIGH))


PROBLEM = elementwise(
    32,
    "32_HardTanh",
    reference,
    substrates=(
        flat(
            "vectorised",
            "hardtanh_vectorised",
            1024,
            extra=(float32("low"), float32("high")),
            resident=True,
        ),
        on_rows(
            "scalar",
            "hardtanh_scalar",
            64,
            (64, 4),
            rows_per_block=4,
            sizes=(int32("rows"), int32("cols")),
        ),
    ),
    controls=(
        control("clamp", "clamp", by_clamp, identical=True),
        control("select", "select", by_select, identical=True),
        control("extrema", "extrema", by_extrema, identical=True),
    ),
    rounds=False,
    tiles=(4, 256),
    scalars={"low": LOW, "high": HIGH},
)
