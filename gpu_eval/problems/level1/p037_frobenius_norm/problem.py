"""KernelBench level 1, problem 37: a tensor divided by its Frobenius norm."""

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
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, int32, int64, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
THREADS = "128"
SHAPE = ("batch", "features", "dim1", "dim2")
# At least 1,024 elements a block where there are that many, at least two blocks always.
BLOCKS = "max(2, min(1056, ceil_div(elements, 1024)))"


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    x = tensors["x"]
    return {"y": x / torch.linalg.vector_norm(x)}


def by_planes(tensors: Tensors) -> Tensors:
    """Take the norm of the norms of the planes."""
    x = tensors["x"]
    planes = torch.linalg.vector_norm(x, dim=(2, 3))
    return {"y": x / torch.linalg.vector_norm(planes)}


def by_dot(tensors: Tensors) -> Tensors:
    """Multiply the tensor, as one vector, by itself."""
    x = tensors["x"]
    return {"y": x * torch.rsqrt(torch.dot(x.flatten(), x.flatten()))}


def by_scaling(tensors: Tensors) -> Tensors:
    """Scale by the largest power of two before squaring, as careful libraries do."""
    x = tensors["x"]
    exponent = torch.frexp(x.abs().amax()).exponent
    scaled = torch.ldexp(x, -exponent)
    return {"y": scaled / torch.sqrt(scaled.square().sum())}


TWO_STAGE = Substrate(
    name="two-stage",
    source="two_stage.cu",
    headers=("warp_reduce.cuh", "block_reduce.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("partial", BLOCKS), Workspace("norm", ONE)),
        steps=(
            Launch(
                kernel="frobenius_partial",
                grid=(BLOCKS, ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(pointer("x"), pointer("partial"), int64("elements")),
            ),
            Launch(
                kernel="frobenius_root",
                grid=(ONE, ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(pointer("partial"), pointer("norm"), int32(BLOCKS)),
            ),
            Launch(
                kernel="frobenius_divide",
                grid=("ceil_div(elements, 512)", ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(pointer("x"), pointer("norm"), pointer("y"), int64("elements")),
            ),
        ),
    ),
)

LAST_BLOCK = Substrate(
    name="last-block",
    source="last_block.cu",
    headers=("tree_reduce.cuh",),
    plan=LaunchPlan(
        workspaces=(
            Workspace("partial", BLOCKS),
            Workspace("finished", ONE, zeroed=True),
            Workspace("inverse", ONE),
        ),
        steps=(
            Launch(
                kernel="frobenius_last_block",
                grid=(BLOCKS, ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("partial"),
                    pointer("finished"),
                    pointer("inverse"),
                    int64("elements"),
                    int64(f"ceil_div(elements, {BLOCKS})"),
                ),
            ),
            Launch(
                kernel="frobenius_multiply",
                grid=("min(ceil_div(elements, 256), 1056)", ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(pointer("x"), pointer("inverse"), pointer("y"), int64("elements")),
            ),
        ),
    ),
)

ATOMICS = Substrate(
    name="atomic-sum",
    source="atomics.cu",
    headers=("warp_reduce.cuh", "block_reduce.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("total", ONE, zeroed=True),),
        steps=(
            Launch(
                kernel="frobenius_atomic_sum",
                grid=(BLOCKS, ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(pointer("x"), pointer("total"), int64("elements")),
            ),
            Launch(
                kernel="frobenius_by_root",
                grid=("ceil_div(elements, 128)", ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(pointer("x"), pointer("total"), pointer("y"), int64("elements")),
            ),
        ),
    ),
)

FORMULA = Division(
    rows=lambda x: x.reshape(1, -1),
    term=torch.square,
    norm=lambda total, count: torch.sqrt(total),
)

PROBLEM = Problem(
    id="level1/037",
    benchmark="kernelbench",
    level=1,
    name="37_FrobeniusNorm_",
    operation_class=OperationClass.NORMALIZATION,
    # One array, in steps of 1,024.
    dimensions=(
        Dimension("batch", 112, DimensionKind.REDUCED),
        Dimension("features", 64, DimensionKind.REDUCED),
        Dimension("dim1", 512, DimensionKind.REDUCED, tile=16),
        Dimension("dim2", 512, DimensionKind.REDUCED, tile=64),
    ),
    derived={"elements": "batch * features * dim1 * dim2"},
    inputs=(TensorSpec("x", SHAPE),),
    outputs=(TensorSpec("y", SHAPE),),
    reference=reference,
    reduction_length="elements",
    substrates=(TWO_STAGE, LAST_BLOCK),
    controls=(
        *FORMULA.controls(TWO_STAGE),
        Control("planes", "tile", run=by_planes),
        Control("dot", "algorithm", run=by_dot),
        Control("scaled", "scaling", run=by_scaling),
        Control("atomics", "atomics", substrate=ATOMICS),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
