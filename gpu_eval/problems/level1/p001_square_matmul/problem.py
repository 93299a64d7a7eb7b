"""KernelBench level 1, problem 1: the product of two square matrices."""

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
SPLITS = 4


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"c": torch.matmul(tensors["a"], tensors["b"])}


def magnitude(tensors: Tensors) -> Tensors:
    """Sum the absolute products."""
    return {"c": torch.matmul(tensors["a"].abs(), tensors["b"].abs())}


def in_order(tensors: Tensors, order: Order) -> Tensors:
    """Add rank-1 products, each rounded, in a given order."""
    a, b = tensors["a"], tensors["b"]
    return {"c": order(Terms(a.t()[:, :, None], b[:, None, :]), b.shape[0])}


def in_blocks(tensors: Tensors) -> Tensors:
    """Multiply 16 x 16 blocks with the library and add the block products."""
    a, b = tensors["a"], tensors["b"]
    total = torch.zeros_like(a)
    for left, right in zip(torch.split(a, 16, dim=1), torch.split(b, 16, dim=0), strict=True):
        total = total + left @ right
    return {"c": total}


TILED = Substrate(
    name="tiled",
    source="tiled.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="matmul_tiled",
                grid=("ceil_div(n, 16)", "ceil_div(n, 16)", ONE),
                block=("16", "16", ONE),
                arguments=(pointer("a"), pointer("b"), pointer("c"), int32("n")),
            ),
        )
    ),
)

REGISTER_BLOCKED = Substrate(
    name="register-blocked",
    source="register_blocked.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="matmul_register_blocked",
                grid=("ceil_div(n, 32)", "ceil_div(n, 32)", ONE),
                block=("128", ONE, ONE),
                arguments=(pointer("a"), pointer("b"), pointer("c"), int32("n")),
            ),
        )
    ),
)

SPLIT_K = Substrate(
    name="split-k",
    source="split_k.cu",
    plan=LaunchPlan(
        workspaces=(Workspace("partial", f"{SPLITS} * n * n"),),
        steps=(
            Launch(
                kernel="matmul_partial",
                grid=("ceil_div(n, 32)", "ceil_div(n, 4)", f"{SPLITS}"),
                block=("32", "4", ONE),
                arguments=(
                    pointer("a"),
                    pointer("b"),
                    pointer("partial"),
                    int32("n"),
                    int32(f"ceil_div(n, {SPLITS})"),
                ),
            ),
            Launch(
                kernel="matmul_combine",
                grid=("ceil_div(n * n, 128)", ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(pointer("partial"), pointer("c"), int32("n * n"), int32(f"{SPLITS}")),
            ),
        ),
    ),
)

PROBLEM = Problem(
    id="level1/001",
    benchmark="kernelbench",
    level=1,
    name="1_Square_matrix_multiplication_",
    operation_class=OperationClass.MATMUL,
    # N is parallel and reduced at once; it counts as reduced.
    dimensions=(Dimension("n", 4096, DimensionKind.REDUCED, tile=32),),
    inputs=(TensorSpec("a", ("n", "n")), TensorSpec("b", ("n", "n"))),
    outputs=(TensorSpec("c", ("n", "n")),),
    reference=reference,
    magnitude=magnitude,
    reduction_length="n",
    exact_lattice=True,
    substrates=(TILED, REGISTER_BLOCKED),
    controls=(
        *ordered_controls(in_order),
        Control("blocked-16", "tile", run=in_blocks),
        Control("split-k", "split_k", substrate=SPLIT_K),
        Control("fma-off", "fma_off", substrate=TILED, flags=("-ffp-contract=off",)),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
