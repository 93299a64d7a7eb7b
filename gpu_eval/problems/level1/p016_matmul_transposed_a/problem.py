"""KernelBench level 1, problem 16: the product of a transposed matrix and another."""

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
# At least 1,024 terms a part where there are that many; always at least two parts.
SPLITS = "max(2, ceil_div(k, 1024))"


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"c": torch.matmul(tensors["a"].T, tensors["b"])}


PRODUCT = Product(
    left=lambda tensors: tensors["a"].t(),
    right=lambda tensors: tensors["b"],
)

DIRECT_TILES = Substrate(
    name="direct-tiles",
    source="direct_tiles.cu",
    headers=("gemm_load.cuh", "gemm_fragment.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="transposed_a_direct",
                grid=("ceil_div(n, 32)", "ceil_div(m, 32)", ONE),
                block=("64", ONE, ONE),
                arguments=(pointer("a"), pointer("b"), pointer("c"), *SIZES),
            ),
        )
    ),
)

SPLIT_K = Substrate(
    name="split-k",
    source="split_k.cu",
    headers=("gemm_combine.cuh",),
    plan=LaunchPlan(
        workspaces=(Workspace("partial", f"{SPLITS} * m * n"),),
        steps=(
            Launch(
                kernel="transposed_a_partial",
                grid=("ceil_div(n, 32)", "ceil_div(m, 16)", SPLITS),
                block=("32", "4", ONE),
                arguments=(
                    pointer("a"),
                    pointer("b"),
                    pointer("partial"),
                    *SIZES,
                    int32(f"ceil_div(k, {SPLITS})"),
                ),
            ),
            Launch(
                kernel="combine_partials",
                grid=("ceil_div(m * n, 128)", ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(pointer("partial"), pointer("c"), int32("m * n"), int32(SPLITS)),
            ),
        ),
    ),
)

PROBLEM = Problem(
    id="level1/016",
    benchmark="kernelbench",
    level=1,
    name="16_Matmul_with_transposed_A",
    operation_class=OperationClass.MATMUL,
    dimensions=(
        Dimension("m", 2048, DimensionKind.PARALLEL, tile=32),
        Dimension("n", 4096, DimensionKind.PARALLEL, tile=32),
        Dimension("k", 8192, DimensionKind.REDUCED, tile=32),
    ),
    inputs=(TensorSpec("a", ("k", "m")), TensorSpec("b", ("k", "n"))),
    outputs=(TensorSpec("c", ("m", "n")),),
    reference=reference,
    magnitude=PRODUCT.magnitude,
    reduction_length="k",
    exact_lattice=True,
    substrates=(DIRECT_TILES, SPLIT_K),
    controls=PRODUCT.controls(reference, DIRECT_TILES),
)
