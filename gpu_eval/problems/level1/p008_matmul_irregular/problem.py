"""KernelBench level 1, problem 8: a product of matrices whose sizes no tile divides."""

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


GUARDED = Substrate(
    name="guarded",
    source="guarded.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="matmul_guarded",
                grid=("ceil_div(n, 32)", "ceil_div(m, 32)", ONE),
                block=("256", ONE, ONE),
                arguments=ARGUMENTS,
            ),
        )
    ),
)

PEELED = Substrate(
    name="peeled",
    source="peeled.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="matmul_peeled",
                grid=("ceil_div(n, 32)", "ceil_div(m, 16)", ONE),
                block=("16", "16", ONE),
                arguments=ARGUMENTS,
            ),
        )
    ),
)

PROBLEM = Problem(
    id="level1/008",
    benchmark="kernelbench",
    level=1,
    name="8_Matmul_with_irregular_shapes_",
    operation_class=OperationClass.MATMUL,
    # 13 rows, one column and five terms are left over after whole tiles.
    dimensions=(
        Dimension("m", 8205, DimensionKind.PARALLEL, tile=32),
        Dimension("n", 5921, DimensionKind.PARALLEL, tile=32),
        Dimension("k", 2949, DimensionKind.REDUCED, tile=16),
    ),
    inputs=(TensorSpec("a", ("m", "k")), TensorSpec("b", ("k", "n"))),
    outputs=(TensorSpec("c", ("m", "n")),),
    reference=reference,
    magnitude=PLAIN.magnitude,
    reduction_length="k",
    exact_lattice=True,
    substrates=(GUARDED, PEELED),
    controls=PLAIN.controls(reference, GUARDED),
)
