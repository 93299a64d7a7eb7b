"""KernelBench level 1, problem 30: softsign of a matrix."""

import torch
from torch import Tensor

from gpu_eval.problems.definition import Substrate, Tensors
from gpu_eval.problems.families.elementwise import ONE, control, elementwise, flat, in_double
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    x = tensors["x"]
    return {"y": x / (1 + torch.abs(x))}


def by_reciprocal(x: Tensor) -> Tensor:
    """Multiply by the reciprocal."""
    return x * (1 + x.abs()).reciprocal()


def by_root(x: Tensor) -> Tensor:
    """Multiply twice by the reciprocal root."""
    r = torch.rsqrt(1 + x.abs())
    return x * r * r


def by_root_divisions(x: Tensor) -> Tensor:
    """Divide twice by the root."""
    root = torch.sqrt(1 + x.abs())
    return x / root / root


SIGNS = Substrate(
    name="signs",
    source="signs.cu",
    plan=LaunchPlan(
        steps=(
            # Half as many threads as there are columns: the loop runs twice.
            Launch(
                kernel="softsign_signs",
                grid=("ceil_div(cols, 256)", "rows", ONE),
                block=("128", ONE, ONE),
                arguments=(pointer("x"), pointer("y"), int32("cols")),
            ),
        )
    ),
)

PROBLEM = elementwise(
    30,
    "30_Softsign",
    reference,
    substrates=(flat("vectorised", "softsign_vectorised", 1536, resident=True), SIGNS),
    controls=(
        control("reciprocal", "reciprocal", by_reciprocal),
        control("rsqrt", "root", by_root),
        control("roots", "division", by_root_divisions),
        in_double(reference),
    ),
    # Rows in steps of 256, and one array in steps of 1,536.
    tiles=(2, 768),
)
