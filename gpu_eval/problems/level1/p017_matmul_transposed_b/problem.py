"""KernelBench level 1, problem 17: the product of a matrix and a transposed one."""

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
SIZES = (int32("m"), int32("n"), int32("k"))


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"c": torch.matmul(tensors["a"], tensors["b"].T)}


PRODUCT = Product(
    left=lambda tensors: tensors["a"],
    right=lambda tensors: tensors["b"].t(),
)

PADDED = Substrate(
    name="padded",
    source="padded.cu",
    headers=("gemm_load.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="transposed_b_padded",
                grid=("ceil_div(n, 32)", "ceil_div(m, 32)", ONE),
                block=("256", ONE, ONE),
                arguments=(pointer("a"), pointer("b"), pointer("c"), *SIZES),
            ),
        )
    ),
)

WARP_DOTS = Substrate(
    name="warp-dots",
    source="warp_dots.cu",
    headers=("warp_reduce.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="transposed_b_dots",
                grid=("ceil_div(n, 4)", "ceil_div(m, 4)", ONE),
                block=("32", "4", ONE),
                arguments=(pointer("a"), pointer("b"), pointer("c"), *SIZES),
            ),
        )
    ),
)

PROBLEM = Problem(
    id="level1/017",
    benchmark="kernelbench",
    level=1,
    name="17_Matmul_with_transposed_B",
    operation_class=OperationClass.MATMUL,
    dimensions=(
        Dimension("m", 2048, DimensionKind.PARALLEL, tile=32),
        Dimension("n", 4096, DimensionKind.PARALLEL, tile=32),
        Dimension("k", 8192, DimensionKind.REDUCED, tile=32),
    ),
    inputs=(TensorSpec("a", ("m", "k")), TensorSpec("b", ("n", "k"))),
    outputs=(TensorSpec("c", ("m", "n")),),
    reference=reference,
    magnitude=PRODUCT.magnitude,
    reduction_length="k",
    exact_lattice=True,
    substrates=(PADDED, WARP_DOTS),
    controls=PRODUCT.controls(reference, PADDED),
)
