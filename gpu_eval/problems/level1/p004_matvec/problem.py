"""KernelBench level 1, problem 4: a matrix times a vector of a million elements."""

import torch

from gpu_eval.problems.definition import (
    Control,
    Dimension,
    DimensionKind,
    Problem,
    Substrate,
    Tensors,
    TensorSpec,
)
from gpu_eval.problems.orders import Order, Terms, ordered_controls
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
THREADS = "128"
# At least 8,192 products a block where there are that many, at least two blocks a row always.
SPLITS = "max(2, min(32, ceil_div(k, 8192)))"
LENGTH = f"ceil_div(k, {SPLITS})"


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"c": torch.matmul(tensors["a"], tensors["b"])}


def magnitude(tensors: Tensors) -> Tensors:
    """Sum the absolute products."""
    return {"c": torch.matmul(tensors["a"].abs(), tensors["b"].abs())}


def in_order(tensors: Tensors, order: Order) -> Tensors:
    """Add the columns times their factors, each product rounded, in a given order."""
    a, b = tensors["a"], tensors["b"]
    return {"c": order(Terms(a.t(), b), len(b))[:, None]}


def in_blocks(tensors: Tensors) -> Tensors:
    """Multiply blocks of 64 columns with the library and add the block products.

    Very long rows go in 1,024 blocks.
    """
    a, b = tensors["a"], tensors["b"]
    size = max(64, len(b) // 128)
    total = torch.zeros_like(a[:, :1])
    for left, right in zip(torch.split(a, size, dim=1), torch.split(b, size, dim=0), strict=True):
        total = total + left @ right
    return {"c": total}


def by_products(tensors: Tensors) -> Tensors:
    """Store all products, rounded, and let the library sum the rows."""
    return {"c": (tensors["a"] * tensors["b"].t()).sum(dim=1, keepdim=True)}


WARP_ROWS = Substrate(
    name="warp-rows",
    source="warp_rows.cu",
    headers=("warp_reduce.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="matvec_warp_rows",
                grid=("ceil_div(m, 4)", ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(pointer("a"), pointer("b"), pointer("c"), int32("m"), int32("k")),
            ),
        )
    ),
)

SPLIT_K = Substrate(
    name="split-k",
    source="split_k.cu",
    headers=("warp_reduce.cuh", "block_reduce.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("partial", f"m * {SPLITS}"),),
        steps=(
            Launch(
                kernel="matvec_partial",
                grid=(SPLITS, "ceil_div(m, 8)", ONE),
                block=(THREADS, ONE, ONE),
                arguments=(
                    pointer("a"),
                    pointer("b"),
                    pointer("partial"),
                    int32("m"),
                    int32("k"),
                    int32(LENGTH),
                ),
            ),
            Launch(
                kernel="matvec_combine",
                grid=("ceil_div(m, 128)", ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(pointer("partial"), pointer("c"), int32("m"), int32(SPLITS)),
            ),
        ),
    ),
)

PROBLEM = Problem(
    id="level1/004",
    benchmark="kernelbench",
    level=1,
    name="4_Matrix_vector_multiplication_",
    operation_class=OperationClass.MATMUL,
    # Two blocks of a row's parts, each in steps of 128 threads: rows are multiples of 256.
    dimensions=(
        Dimension("m", 2048, DimensionKind.PARALLEL, tile=128),
        Dimension("k", 1048576, DimensionKind.REDUCED, tile=256),
    ),
    inputs=(TensorSpec("a", ("m", "k")), TensorSpec("b", ("k", ONE))),
    outputs=(TensorSpec("c", ("m", ONE)),),
    reference=reference,
    magnitude=magnitude,
    reduction_length="k",
    exact_lattice=True,
    substrates=(WARP_ROWS, SPLIT_K),
    controls=(
        *ordered_controls(in_order),
        Control("blocked-64", "tile", run=in_blocks),
        Control("products", "algorithm", run=by_products),
        Control("fma-off", "fma_off", substrate=WARP_ROWS, flags=("-ffp-contract=off",)),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
