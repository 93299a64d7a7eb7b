"""KernelBench level 1, problem 29: softplus of a matrix, linear beyond a threshold."""

import torch
from torch import Tensor

from gpu_eval.problems.definition import Tensors
from gpu_eval.problems.families.elementwise import control, elementwise, flat, in_double, on_rows
from gpu_eval.problems.plan import float32, int32

BETA = 1.0
THRESHOLD = 20.0


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"y": torch.nn.functional.softplus(tensors["x"], beta=BETA, threshold=THRESHOLD)}


def by_size(x: Tensor) -> Tensor:
    """Take the exponential of -|x| only, and need no threshold."""
    return x.clamp(min=0) + torch.log1p(torch.exp(-x.abs()))


def by_library(x: Tensor) -> Tensor:
    """Add the exponentials of x and of 0 under the logarithm."""
    return torch.logaddexp(x, torch.zeros_like(x))


def by_area_tangent(x: Tensor) -> Tensor:
    """Take log(1 + e) as 2 artanh(e / (2 + e))."""
    e = torch.exp(-x.abs())
    return x.clamp(min=0) + 2 * torch.atanh(e / (2 + e))


def by_half(x: Tensor) -> Tensor:
    """Square under the logarithm: twice the logarithm of the root of 1 + e."""
    e = torch.exp(-x.abs())
    root_less_one = e / (1 + torch.sqrt(1 + e))
    return x.clamp(min=0) + 2 * torch.log1p(root_less_one)


PROBLEM = elementwise(
    29,
    "29_Softplus",
    reference,
    substrates=(
        # Half as many blocks as would cover a row: the loop runs twice.
        on_rows(
            "threshold",
            "softplus_threshold",
            128,
            (64, 2),
            rows_per_block=2,
            sizes=(int32("rows"), int32("cols"), float32("threshold")),
        ),
        flat("stable", "softplus_stable", 1024),
    ),
    controls=(
        control("size", "algorithm", by_size),
        control("logaddexp", "library", by_library),
        control("area-tangent", "artanh", by_area_tangent),
        control("root", "root", by_half),
        in_double(reference),
    ),
    # Tiles of 2 x 128, and one array in steps of 1,024.
    tiles=(8, 128),
    scalars={"threshold": THRESHOLD},
)
