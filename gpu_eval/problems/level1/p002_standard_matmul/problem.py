"""KernelBench level 1, problem 2: the product of two matrices."""

import torch

from gpu_eval.problems.definition import (
    Dimension,
    DimensionKind,
    Problem,
    Substrate,
    Tensors,
    TensorSpec,
)
from gpu_eval.problems.families.matmul import PLAIN
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
GRID = ("ceil_div(n, 32)", "ceil_div(m, 32)", ONE)
ARGUMENTS = (pointer("a"), pointer("b"), pointer("c"), int32("m"), int32("n"), int32("k"))


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"c": torch.matmul(tensors["a"], tensors["b"])}


VECTORISED = Substrate(
    name="vectorised",
    source="vectorised.cu",
    headers=("gemm_load.cuh", "gemm_fragment.cuh"),
    plan=LaunchPlan(steps=(Launch("matmul_vectorised", GRID, ("64", ONE, ONE), ARGUMENTS),)),
)

DOUBLE_BUFFERED = Substrate(
    name="double-buffered",
    source="double_buffered.cu",
    plan=LaunchPlan(steps=(Launch("matmul_double_buffered", GRID, ("256", ONE, ONE), ARGUMENTS),)),
)

PROBLEM = Problem(
    id="level1/002",
    benchmark="kernelbench",
    level=1,
    name="2_Standard_matrix_multiplication_",
    operation_class=OperationClass.MATMUL,
    dimensions=(
        Dimension("m", 2048, DimensionKind.PARALLEL, tile=32),
        Dimension("n", 4096, DimensionKind.PARALLEL, tile=32),
        Dimension("k", 8192, DimensionKind.REDUCED, tile=16),
    ),
    inputs=(TensorSpec("a", ("m", "k")), TensorSpec("b", ("k", "n"))),
    outputs=(TensorSpec("c", ("m", "n")),),
    reference=reference,
    magnitude=PLAIN.magnitude,
    reduction_length="k",
    exact_lattice=True,
    substrates=(VECTORISED, DOUBLE_BUFFERED),
    controls=PLAIN.controls(reference, VECTORISED),
)
