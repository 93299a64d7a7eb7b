"""KernelBench level 2, problem 68: a linear layer, the minimum with a learned number, less it."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from gpu_eval.problems.definition import ParameterRole, ParameterSpec, Substrate, Tensors
from gpu_eval.problems.families.fused import (
    Linear,
    Stage,
    WithParameter,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.families.fused_pointwise import NEAR
from gpu_eval.problems.families.fused_stages import Bound, Shape, Trace
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer


@dataclass(frozen=True)
class MinimumWith(Stage):
    """Take the smaller of each element and a learned number.

    Attributes
    ----------
    name : str
        The parameter's.
    start : float
        What it begins at.
    """

    name: str
    start: float
    exact = True

    def parameters(self, shape: Shape, trace: Trace) -> tuple[ParameterSpec, ...]:
        """Return the number's description."""
        return (ParameterSpec(self.name, (), ParameterRole.BIAS),)

    def initialise(self, shapes: Mapping[str, tuple[int, ...]]) -> Tensors:
        """Return the number as the benchmark sets it."""
        return {self.name: torch.tensor(self.start)}

    def apply(self, h: Tensor, tensors: Tensors) -> Tensor:
        """Compute it with the library's own minimum."""
        return torch.minimum(h, tensors[self.name])

    def otherwise(self, h: Tensor, tensors: Tensors) -> Tensor:
        """Compute it by a comparison."""
        limit = tensors[self.name]
        return torch.where(h > limit, limit, h)

    def bound(self, b: Bound, tensors: Tensors) -> Bound:
        """Carry expected errors where the element is what is taken."""
        limit = tensors[self.name]
        # The parameter has no error: none is left where it is the smaller one by far.
        size = torch.where(b.value <= limit + NEAR * b.size, b.size, 0.0)
        return b.onward(torch.minimum(b.value, limit), size)


COLUMN_A_THREAD = Substrate(
    name="column-a-thread",
    source="column_a_thread.cu",
    headers=("gemm_load.cuh", "pool_nan.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="matmul_min_subtract",
                grid=("ceil_div(out_features, 64)", "ceil_div(batch, 16)", "1"),
                block=("64", "1", "1"),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("constant"),
                    pointer("y"),
                    int32("batch"),
                    int32("out_features"),
                    int32("in_features"),
                ),
            ),
        )
    ),
)

PROBLEM = fused_problem(
    68,
    "68_Matmul_Min_Subtract",
    (
        Linear(),
        MinimumWith("constant", 2.0),
        WithParameter("-", "constant", (), brought=False),
    ),
    dimensions=(
        parallel("batch", 128, tile=16),
        reduced("in_features", 16384, tile=32),
        parallel("out_features", 16384, tile=64),
    ),
    x=("batch", "in_features"),
    substrates=(COLUMN_A_THREAD,),
)
