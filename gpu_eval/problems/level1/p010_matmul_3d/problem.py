"""KernelBench level 1, problem 10: a three-dimensional tensor times a matrix."""

import torch

from gpu_eval.problems.blind.level1_010 import control as from_the_contract
from gpu_eval.problems.definition import (
    Control,
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
POINTERS = (pointer("a"), pointer("b"), pointer("c"))


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"c": torch.matmul(tensors["a"], tensors["b"])}


PRODUCT = Product(
    left=lambda tensors: tensors["a"].flatten(0, 1),
    right=lambda tensors: tensors["b"],
    finish=lambda c, tensors: c.reshape(*tensors["a"].shape[:2], c.shape[1]),
)

LAYERS = Substrate(
    name="layers",
    source="layers.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="matmul3d_layers",
                grid=("ceil_div(m, 16)", "ceil_div(l, 32)", "n"),
                block=("128", ONE, ONE),
                arguments=(*POINTERS, int32("m"), int32("l"), int32("k")),
            ),
        )
    ),
)

FLATTENED = Substrate(
    name="flattened",
    source="flattened.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="matmul3d_flattened",
                grid=("ceil_div(l, 16)", "ceil_div(n * m, 32)", ONE),
                block=("64", ONE, ONE),
                shared="4 * 16 * (32 + 16)",
                arguments=(*POINTERS, int32("n * m"), int32("l"), int32("k")),
            ),
        )
    ),
)

PROBLEM = Problem(
    id="level1/010",
    benchmark="kernelbench",
    level=1,
    name="10_3D_tensor_matrix_multiplication",
    operation_class=OperationClass.MATMUL,
    dimensions=(
        Dimension("n", 16, DimensionKind.PARALLEL),
        Dimension("m", 1024, DimensionKind.PARALLEL, tile=32),
        Dimension("l", 768, DimensionKind.PARALLEL, tile=32),
        Dimension("k", 2048, DimensionKind.REDUCED, tile=16),
    ),
    inputs=(TensorSpec("a", ("n", "m", "k")), TensorSpec("b", ("k", "l"))),
    outputs=(TensorSpec("c", ("n", "m", "l")),),
    reference=reference,
    magnitude=PRODUCT.magnitude,
    reduction_length="k",
    exact_lattice=True,
    substrates=(LAYERS, FLATTENED),
    controls=(
        *PRODUCT.controls(reference, FLATTENED),
        Control("from-the-contract", "blind", run=from_the_contract, blind=True),
    ),
)
