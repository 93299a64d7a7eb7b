"""KernelBench level 1, problem 12: a diagonal matrix, given by its diagonal, times a matrix."""

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
from gpu_eval.problems.families.matmul import halves
from gpu_eval.problems.orders import Order, Terms, pairwise, serial
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
ARGUMENTS = (pointer("a"), pointer("b"), pointer("c"), int32("n"), int32("m"))


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"c": torch.diag(tensors["a"]) @ tensors["b"]}


def magnitude(tensors: Tensors) -> Tensors:
    """Take the absolute products."""
    return {"c": tensors["a"].abs()[:, None] * tensors["b"].abs()}


def by_rows(tensors: Tensors) -> Tensors:
    """Scale the rows, without the zeros."""
    return {"c": tensors["a"][:, None] * tensors["b"]}


def in_double(tensors: Tensors) -> Tensors:
    """Multiply in fp64 and round once."""
    a, b = tensors["a"], tensors["b"]
    return {"c": (a.double()[:, None] * b.double()).to(b.dtype)}


def by_halves(tensors: Tensors) -> Tensors:
    """Add the products of 12-bit halves, of which each is exact and each sum rounds."""
    a_high, a_low = halves(tensors["a"][:, None])
    b_high, b_low = halves(tensors["b"])
    return {"c": a_low * b_low + (a_low * b_high + a_high * b_low) + a_high * b_high}


def in_order(tensors: Tensors, order: Order) -> Tensors:
    """Add the rank-1 products of the whole diagonal matrix, zeros and all."""
    a, b = torch.diag(tensors["a"]), tensors["b"]
    return {"c": order(Terms(a.t()[:, :, None], b[:, None, :]), len(b))}


def in_serial(tensors: Tensors) -> Tensors:
    """Add them from the first to the last."""
    return in_order(tensors, serial)


def in_pairs(tensors: Tensors) -> Tensors:
    """Add them as a tree."""
    return in_order(tensors, pairwise)


VECTORISED = Substrate(
    name="vectorised",
    source="vectorised.cu",
    headers=("gemm_load.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="diagonal_vectorised",
                grid=("ceil_div(m, 32)", "ceil_div(n, 16)", ONE),
                block=("8", "16", ONE),
                arguments=ARGUMENTS,
            ),
        )
    ),
)

STAGED = Substrate(
    name="staged",
    source="staged.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="diagonal_staged",
                # Two blocks share a row, up to eight where it is long.
                grid=("max(2, min(8, ceil_div(m, 256)))", "ceil_div(n, 16)", ONE),
                block=("32", "4", ONE),
                arguments=ARGUMENTS,
            ),
        )
    ),
)

PROBLEM = Problem(
    id="level1/012",
    benchmark="kernelbench",
    level=1,
    name="12_Matmul_with_diagonal_matrices_",
    operation_class=OperationClass.MATMUL,
    # The reference sums n products a row, of which all but one are zero: nothing is reduced.
    dimensions=(
        Dimension("n", 4096, DimensionKind.PARALLEL, tile=16),
        Dimension("m", 4096, DimensionKind.PARALLEL, tile=32),
    ),
    # Given as a vector, so that its structure as a matrix holds whatever the values are.
    inputs=(TensorSpec("a", ("n",)), TensorSpec("b", ("n", "m"))),
    outputs=(TensorSpec("c", ("n", "m")),),
    reference=reference,
    magnitude=magnitude,
    exact_lattice=True,
    substrates=(VECTORISED, STAGED),
    controls=(
        Control("rows", "algorithm", run=by_rows),
        Control("double", "wide", run=in_double),
        Control("halves", "emulation", run=by_halves),
        Control("serial", "serial", run=in_serial),
        Control("pairwise", "pairwise", run=in_pairs),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
