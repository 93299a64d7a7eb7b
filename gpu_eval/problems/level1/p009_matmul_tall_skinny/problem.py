"""KernelBench level 1, problem 9: a tall matrix times a wide one, each of 32 columns or rows."""

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
ARGUMENTS = (pointer("a"), pointer("b"), pointer("c"), int32("m"), int32("n"))


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"c": torch.matmul(tensors["a"], tensors["b"])}


STRIPS = Substrate(
    name="strips",
    source="strips.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="skinny_strips",
                # A block takes at least two steps, and up to an eighth of all columns.
                grid=("ceil_div(m, 16)", "min(8, ceil_div(m, 64))", ONE),
                block=("32", "4", ONE),
                shared="4 * 16 * n",
                arguments=ARGUMENTS,
            ),
        )
    ),
)

REGISTERS = Substrate(
    name="registers",
    source="registers.cu",
    headers=("gemm_load.cuh", "gemm_fragment.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="skinny_registers",
                grid=("ceil_div(m, 32)", "ceil_div(m, 32)", ONE),
                block=("8", "8", ONE),
                arguments=ARGUMENTS,
            ),
        )
    ),
)

PROBLEM = Problem(
    id="level1/009",
    benchmark="kernelbench",
    level=1,
    name="9_Tall_skinny_matrix_multiplication_",
    operation_class=OperationClass.MATMUL,
    # The benchmark's names: m is the tall extent of both, n what is summed over.
    dimensions=(
        Dimension("m", 32768, DimensionKind.PARALLEL, tile=32),
        Dimension("n", 32, DimensionKind.REDUCED, tile=32),
    ),
    inputs=(TensorSpec("a", ("m", "n")), TensorSpec("b", ("n", "m"))),
    outputs=(TensorSpec("c", ("m", "m")),),
    reference=reference,
    magnitude=PLAIN.magnitude,
    reduction_length="n",
    exact_lattice=True,
    substrates=(STRIPS, REGISTERS),
    controls=PLAIN.controls(reference, REGISTERS),
)
