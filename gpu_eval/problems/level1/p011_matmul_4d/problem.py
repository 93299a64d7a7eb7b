"""KernelBench level 1, problem 11: a four-dimensional tensor times a matrix."""

import torch

from gpu_eval.problems.definition import (
    Dimension,
    DimensionKind,
    Problem,
    Substrate,
    Tensors,
    TensorSpec,
)
from gpu_eval.problems.families.matmul import Product
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
ARGUMENTS = (
    pointer("a"),
    pointer("b"),
    pointer("c"),
    int32("rows"),
    int32("k"),
    int32("l"),
)


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"c": torch.einsum("bijl,lk->bijk", tensors["a"], tensors["b"])}


PRODUCT = Product(
    left=lambda tensors: tensors["a"].flatten(0, 2),
    right=lambda tensors: tensors["b"],
    finish=lambda c, tensors: c.reshape(*tensors["a"].shape[:3], c.shape[1]),
)

FLATTENED = Substrate(
    name="flattened",
    source="flattened.cu",
    headers=("gemm_load.cuh", "gemm_fragment.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="matmul4d_flattened",
                grid=("ceil_div(k, 16)", "ceil_div(rows, 32)", ONE),
                block=("8", "8", ONE),
                arguments=ARGUMENTS,
            ),
        )
    ),
)

STATIONARY = Substrate(
    name="stationary",
    source="stationary.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="matmul4d_stationary",
                # A block walks over 16 rows at least, and over all of a grid of 1,024.
                grid=("ceil_div(k, 16)", "min(1024, ceil_div(rows, 16))", ONE),
                block=("128", ONE, ONE),
                shared="4 * 16 * l",
                arguments=ARGUMENTS,
            ),
        )
    ),
)

PROBLEM = Problem(
    id="level1/011",
    benchmark="kernelbench",
    level=1,
    name="11_4D_tensor_matrix_multiplication",
    operation_class=OperationClass.MATMUL,
    # The benchmark's names: l is summed over. Rows are b, i and j together: four of b and i and
    # eight of j keep them whole tiles of 32.
    dimensions=(
        Dimension("b", 8, DimensionKind.PARALLEL, tile=2),
        Dimension("i", 256, DimensionKind.PARALLEL, tile=2),
        Dimension("j", 512, DimensionKind.PARALLEL, tile=8),
        Dimension("k", 768, DimensionKind.PARALLEL, tile=16),
        Dimension("l", 256, DimensionKind.REDUCED, tile=16),
    ),
    derived={"rows": "b * i * j"},
    inputs=(TensorSpec("a", ("b", "i", "j", "l")), TensorSpec("b", ("l", "k"))),
    outputs=(TensorSpec("c", ("b", "i", "j", "k")),),
    reference=reference,
    magnitude=PRODUCT.magnitude,
    reduction_length="l",
    exact_lattice=True,
    substrates=(FLATTENED, STATIONARY),
    controls=PRODUCT.controls(reference, FLATTENED),
)
