"""KernelBench level 1, problem 7: a product of matrices with many outputs and short sums."""

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
ARGUMENTS = (pointer("a"), pointer("b"), pointer("c"), int32("m"), int32("n"), int32("k"))


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"c": torch.matmul(tensors["a"], tensors["b"])}


WHOLE_K = Substrate(
    name="whole-k",
    source="whole_k.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="matmul_whole_k",
                grid=("ceil_div(n, 32)", "ceil_div(m, 32)", ONE),
                block=("256", ONE, ONE),
                # 16.1 KiB at the contract's k of 64.
                shared="4 * 32 * (2 * k + 1)",
                arguments=ARGUMENTS,
            ),
        )
    ),
)

COLUMNS = Substrate(
    name="columns",
    source="columns.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="matmul_columns",
                grid=("ceil_div(n, 32)", "ceil_div(m, 16)", ONE),
                block=("32", "4", ONE),
                arguments=ARGUMENTS,
            ),
        )
    ),
)

PROBLEM = Problem(
    id="level1/007",
    benchmark="kernelbench",
    level=1,
    name="7_Matmul_with_small_K_dimension_",
    operation_class=OperationClass.MATMUL,
    dimensions=(
        Dimension("m", 32768, DimensionKind.PARALLEL, tile=32),
        Dimension("n", 32768, DimensionKind.PARALLEL, tile=32),
        Dimension("k", 64, DimensionKind.REDUCED, tile=32),
    ),
    inputs=(TensorSpec("a", ("m", "k")), TensorSpec("b", ("k", "n"))),
    outputs=(TensorSpec("c", ("m", "n")),),
    reference=reference,
    magnitude=PLAIN.magnitude,
    reduction_length="k",
    exact_lattice=True,
    substrates=(WHOLE_K, COLUMNS),
    controls=PLAIN.controls(reference, COLUMNS),
)
