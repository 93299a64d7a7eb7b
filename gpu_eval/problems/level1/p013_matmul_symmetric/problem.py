"""KernelBench level 1, problem 13: the product of two symmetric matrices."""

import torch

from gpu_eval.problems.definition import (
    Control,
    Dimension,
    DimensionKind,
    Problem,
    Structure,
    Substrate,
    Tensors,
    TensorSpec,
)
from gpu_eval.problems.families.matmul import PLAIN, Product
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
ARGUMENTS = (pointer("a"), pointer("b"), pointer("c"), int32("n"))


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"c": torch.matmul(tensors["a"], tensors["b"])}


# C = (B A)^T where both are symmetric: other sums of the same terms in the library.
MIRRORED = Product(
    left=lambda tensors: tensors["b"],
    right=lambda tensors: tensors["a"],
    finish=lambda c, tensors: c.t(),
)


BY_COLUMNS = Substrate(
    name="by-columns",
    source="by_columns.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="symmetric_by_columns",
                grid=("ceil_div(n, 32)", "ceil_div(n, 32)", ONE),
                block=("32", "8", ONE),
                arguments=ARGUMENTS,
            ),
        )
    ),
)

UPPER_TRIANGLE = Substrate(
    name="upper-triangle",
    source="upper_triangle.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="symmetric_upper",
                grid=("ceil_div(n, 16)", "ceil_div(n, 16)", ONE),
                block=("16", "16", ONE),
                arguments=ARGUMENTS,
            ),
        )
    ),
)

PROBLEM = Problem(
    id="level1/013",
    benchmark="kernelbench",
    level=1,
    name="13_Matmul_for_symmetric_matrices",
    operation_class=OperationClass.MATMUL,
    # N is parallel and reduced at once; it counts as reduced.
    dimensions=(Dimension("n", 4096, DimensionKind.REDUCED, tile=32),),
    inputs=(
        TensorSpec("a", ("n", "n"), structure=Structure.SYMMETRIC),
        TensorSpec("b", ("n", "n"), structure=Structure.SYMMETRIC),
    ),
    outputs=(TensorSpec("c", ("n", "n")),),
    reference=reference,
    magnitude=PLAIN.magnitude,
    reduction_length="n",
    exact_lattice=True,
    substrates=(BY_COLUMNS, UPPER_TRIANGLE),
    controls=PLAIN.controls(
        reference,
        BY_COLUMNS,
        Control("mirrored", "symmetry", run=MIRRORED.in_blocks),
    ),
)
