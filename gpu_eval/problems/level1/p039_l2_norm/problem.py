"""KernelBench level 1, problem 39: rows divided by their Euclidean norms."""

import torch

from gpu_eval.problems.blind.level1_039 import control as from_the_contract
from gpu_eval.problems.definition import (
    Control,
    Dimension,
    DimensionKind,
    Problem,
    Substrate,
    Tensors,
    TensorSpec,
)
from gpu_eval.problems.families.normalisation import Division
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
THREADS = "128"
# At least 4,096 columns a block where there are that many, at least two blocks a row always.
PARTS = "max(2, min(16, ceil_div(cols, 4096)))"
LENGTH = f"ceil_div(cols, {PARTS})"


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    x = tensors["x"]
    return {"y": x / torch.linalg.vector_norm(x, dim=1, keepdim=True)}


def by_product(tensors: Tensors) -> Tensors:
    """Multiply a row by itself."""
    x = tensors["x"]
    return {"y": x * torch.rsqrt(torch.bmm(x[:, None, :], x[:, :, None])[:, 0])}


def by_mean(tensors: Tensors) -> Tensors:
    """Divide by the root of the mean square, then by that of the length."""
    x = tensors["x"]
    root = torch.sqrt(x.square().mean(dim=1, keepdim=True))
    return {"y": x / root / x.shape[1] ** 0.5}


UNROLLED_ROWS = Substrate(
    name="unrolled-rows",
    source="unrolled_rows.cu",
    headers=("warp_reduce.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="l2norm_unrolled",
                grid=("rows", ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(pointer("x"), pointer("y"), int32("cols")),
            ),
        )
    ),
)

SPLIT = Substrate(
    name="split",
    source="split.cu",
    headers=("tree_reduce.cuh",),
    plan=LaunchPlan(
        workspaces=(Workspace("partial", f"rows * {PARTS}"),),
        steps=(
            Launch(
                kernel="l2norm_parts",
                grid=(PARTS, "rows", ONE),
                block=(THREADS, ONE, ONE),
                arguments=(pointer("x"), pointer("partial"), int32("cols"), int32(LENGTH)),
            ),
            Launch(
                kernel="l2norm_scale",
                grid=(PARTS, "rows", ONE),
                block=(THREADS, ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("partial"),
                    pointer("y"),
                    int32("cols"),
                    int32(LENGTH),
                ),
            ),
        ),
    ),
)

FORMULA = Division(
    rows=lambda x: x,
    term=torch.square,
    norm=lambda total, count: torch.sqrt(total),
)

PROBLEM = Problem(
    id="level1/039",
    benchmark="kernelbench",
    level=1,
    name="39_L2Norm_",
    operation_class=OperationClass.NORMALIZATION,
    # Rows go in steps of 128, or of two parts of such.
    dimensions=(
        Dimension("rows", 32768, DimensionKind.PARALLEL),
        Dimension("cols", 65535, DimensionKind.REDUCED, tile=256),
    ),
    inputs=(TensorSpec("x", ("rows", "cols")),),
    outputs=(TensorSpec("y", ("rows", "cols")),),
    reference=reference,
    reduction_length="cols",
    substrates=(UNROLLED_ROWS, SPLIT),
    controls=(
        *FORMULA.controls(UNROLLED_ROWS),
        Control("product", "algorithm", run=by_product),
        Control("mean", "scaling", run=by_mean),
        Control("from-the-contract", "blind", run=from_the_contract, blind=True),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
