"""KernelBench level 1, problem 15: the product of two lower triangular matrices."""

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
    return {"c": torch.tril(torch.matmul(tensors["a"], tensors["b"]))}


PRODUCT = Product(
    left=lambda tensors: tensors["a"],
    right=lambda tensors: tensors["b"],
    finish=lambda c, tensors: c.tril(),
)

REGISTER_BLOCKED = Substrate(
    name="register-blocked",
    source="register_blocked.cu",
    headers=("gemm_fragment.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="lower_register_blocked",
                grid=("ceil_div(n, 32)", "ceil_div(n, 32)", ONE),
                block=("64", ONE, ONE),
                arguments=ARGUMENTS,
            ),
        )
    ),
)

BOUNDED = Substrate(
    name="bounded",
    source="bounded.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="lower_bounded",
                grid=("ceil_div(n, 32)", "ceil_div(n, 32)", ONE),
                block=("32", "16", ONE),
                arguments=ARGUMENTS,
            ),
        )
    ),
)

PROBLEM = Problem(
    id="level1/015",
    benchmark="kernelbench",
    level=1,
    name="15_Matmul_for_lower_triangular_matrices",
    operation_class=OperationClass.MATMUL,
    # N is parallel and reduced at once; it counts as reduced. Only one output sums all n terms.
    dimensions=(Dimension("n", 4096, DimensionKind.REDUCED, tile=32),),
    inputs=(
        TensorSpec("a", ("n", "n"), structure=Structure.LOWER_TRIANGULAR),
        TensorSpec("b", ("n", "n"), structure=Structure.LOWER_TRIANGULAR),
    ),
    outputs=(TensorSpec("c", ("n", "n")),),
    reference=reference,
    magnitude=PRODUCT.magnitude,
    reduction_length="n",
    exact_lattice=True,
    substrates=(REGISTER_BLOCKED, BOUNDED),
    controls=PRODUCT.controls(reference, BOUNDED),
)
