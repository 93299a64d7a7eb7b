"""KernelBench level 1, problem 18: the product of two transposed matrices."""

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
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
SIZES = (int32("m"), int32("n"), int32("k"))


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"c": torch.matmul(tensors["a"].T, tensors["b"].T)}


PRODUCT = Product(
    left=lambda tensors: tensors["a"].t(),
    right=lambda tensors: tensors["b"].t(),
)

MIRRORED = Substrate(
    name="mirrored",
    source="mirrored.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="transposed_both_mirrored",
                grid=("ceil_div(m, 32)", "ceil_div(n, 32)", ONE),
                block=("32", "8", ONE),
                arguments=(pointer("a"), pointer("b"), pointer("c"), *SIZES),
            ),
        )
    ),
)

TWO_STAGE = Substrate(
    name="two-stage",
    source="two_stage.cu",
    plan=LaunchPlan(
        workspaces=(Workspace("bt", "k * n"),),
        steps=(
            Launch(
                kernel="transpose",
                grid=("ceil_div(k, 32)", "ceil_div(n, 32)", ONE),
                block=("32", "4", ONE),
                arguments=(pointer("b"), pointer("bt"), int32("n"), int32("k")),
            ),
            Launch(
                kernel="matmul_k_major",
                grid=("ceil_div(n, 16)", "ceil_div(m, 16)", ONE),
                block=("64", ONE, ONE),
                arguments=(pointer("a"), pointer("bt"), pointer("c"), *SIZES),
            ),
        ),
    ),
)

PROBLEM = Problem(
    id="level1/018",
    benchmark="kernelbench",
    level=1,
    name="18_Matmul_with_transposed_both",
    operation_class=OperationClass.MATMUL,
    dimensions=(
        Dimension("m", 2048, DimensionKind.PARALLEL, tile=32),
        Dimension("n", 4096, DimensionKind.PARALLEL, tile=32),
        Dimension("k", 8192, DimensionKind.REDUCED, tile=32),
    ),
    inputs=(TensorSpec("a", ("k", "m")), TensorSpec("b", ("n", "k"))),
    outputs=(TensorSpec("c", ("m", "n")),),
    reference=reference,
    magnitude=PRODUCT.magnitude,
    reduction_length="k",
    exact_lattice=True,
    substrates=(MIRRORED, TWO_STAGE),
    controls=PRODUCT.controls(reference, TWO_STAGE),
)
