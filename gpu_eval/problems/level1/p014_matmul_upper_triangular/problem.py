"""KernelBench level 1, problem 14: the product of two upper triangular matrices."""

import torch

from gpu_eval.problems.definition import (
    Dimension,
    DimensionKind,
    Problem,
    Structure,
    Substrate,
    Tensors,
    TensorSpec,
)
from gpu_eval.problems.families.matmul import Product
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
ARGUMENTS = (pointer("a"), pointer("b"), pointer("c"), int32("n"))


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"c": torch.triu(torch.matmul(tensors["a"], tensors["b"]))}


PRODUCT = Product(
    left=lambda tensors: tensors["a"],
    right=lambda tensors: tensors["b"],
    finish=lambda c, tensors: c.triu(),
)

SKIP_TILES = Substrate(
    name="skip-tiles",
    source="skip_tiles.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="upper_skip_tiles",
                grid=("ceil_div(n, 16)", "ceil_div(n, 16)", ONE),
                block=("16", "16", ONE),
                arguments=ARGUMENTS,
            ),
        )
    ),
)

PACKED_GRID = Substrate(
    name="packed-grid",
    source="packed_grid.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="clear_lower",
                grid=("ceil_div(n, 32)", "ceil_div(n, 8)", ONE),
                block=("32", "8", ONE),
                arguments=(pointer("c"), int32("n")),
            ),
            Launch(
                kernel="upper_packed",
                grid=("ceil_div(n, 16) * (ceil_div(n, 16) + 1) // 2", ONE, ONE),
                block=("64", ONE, ONE),
                arguments=ARGUMENTS,
            ),
        )
    ),
)

PROBLEM = Problem(
    id="level1/014",
    benchmark="kernelbench",
    level=1,
    name="14_Matmul_for_upper_triangular_matrices",
    operation_class=OperationClass.MATMUL,
    # N is parallel and reduced at once; it counts as reduced. Only one output sums all n terms.
    dimensions=(Dimension("n", 4096, DimensionKind.REDUCED, tile=32),),
    inputs=(
        TensorSpec("a", ("n", "n"), structure=Structure.UPPER_TRIANGULAR),
        TensorSpec("b", ("n", "n"), structure=Structure.UPPER_TRIANGULAR),
    ),
    outputs=(TensorSpec("c", ("n", "n")),),
    reference=reference,
    magnitude=PRODUCT.magnitude,
    reduction_length="n",
    exact_lattice=True,
    substrates=(SKIP_TILES, PACKED_GRID),
    controls=PRODUCT.controls(reference, SKIP_TILES),
)
