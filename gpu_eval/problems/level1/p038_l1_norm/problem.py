"""KernelBench level 1, problem 38: rows divided by the mean of their absolute values."""

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
from gpu_eval.problems.families.normalisation import Division
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes; its norm is a mean, not a sum."""
    x = tensors["x"]
    return {"y": x / torch.mean(torch.abs(x), dim=1, keepdim=True)}


def by_norm(tensors: Tensors) -> Tensors:
    """Divide by the library's norm, and multiply by the length of a row."""
    x = tensors["x"]
    return {"y": x / torch.linalg.vector_norm(x, ord=1, dim=1, keepdim=True) * x.shape[1]}


def by_signs(tensors: Tensors) -> Tensors:
    """Multiply a row by its signs."""
    x = tensors["x"]
    total = torch.bmm(x[:, None, :], torch.sign(x)[:, :, None])[:, 0]
    return {"y": x / (total * (1 / x.shape[1]))}


TREE_ROWS = Substrate(
    name="tree-rows",
    source="tree_rows.cu",
    headers=("tree_reduce.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="l1norm_tree_rows",
                grid=("rows", ONE, ONE),
                block=("256", ONE, ONE),
                arguments=(pointer("x"), pointer("y"), int32("cols")),
            ),
        )
    ),
)

PEELED = Substrate(
    name="peeled",
    source="peeled.cu",
    headers=("warp_reduce.cuh", "block_reduce.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="l1norm_peeled",
                grid=("rows", ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(pointer("x"), pointer("y"), int32("cols")),
            ),
        )
    ),
)

FORMULA = Division(
    rows=lambda x: x,
    term=torch.abs,
    norm=lambda total, count: total / count,
)

PROBLEM = Problem(
    id="level1/038",
    benchmark="kernelbench",
    level=1,
    name="38_L1Norm_",
    operation_class=OperationClass.NORMALIZATION,
    # Where a row begins within a vector repeats every four rows.
    dimensions=(
        Dimension("rows", 32768, DimensionKind.PARALLEL, tile=4),
        Dimension("cols", 65535, DimensionKind.REDUCED, tile=256),
    ),
    inputs=(TensorSpec("x", ("rows", "cols")),),
    outputs=(TensorSpec("y", ("rows", "cols")),),
    reference=reference,
    reduction_length="cols",
    substrates=(TREE_ROWS, PEELED),
    controls=(
        *FORMULA.controls(),
        Control("norm", "norm", run=by_norm),
        Control("signs", "algorithm", run=by_signs),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
