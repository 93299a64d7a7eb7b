"""KernelBench level 1, problem 35: GroupNorm of images in eight groups of channels."""

import torch
from torch import Tensor

from gpu_eval.problems.definition import (
    Control,
    Dimension,
    DimensionKind,
    ParameterRole,
    ParameterSpec,
    Problem,
    Substrate,
    Tensors,
    TensorSpec,
)
from gpu_eval.problems.families.normalisation import Standardisation, affine_identity, by_channel
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
EPS = 1e-5
GROUPS = 8
SHAPE = ("batch", "features", "dim1", "dim2")
RUNS = "batch * groups"
# At least 4,096 elements a block where there are that many, at least two blocks a run always.
PARTS = "max(2, min(64, ceil_div(size, 4096)))"
LENGTH = f"ceil_div(size, {PARTS})"


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    x, weight, bias = tensors["x"], tensors["weight"], tensors["bias"]
    return {"y": torch.nn.functional.group_norm(x, GROUPS, weight, bias, EPS)}


def rows(x: Tensor) -> Tensor:
    """Return a row for each group of an image."""
    return x.reshape(x.shape[0] * GROUPS, -1)


TWO_PASS = Substrate(
    name="two-pass",
    source="two_pass.cu",
    headers=("tree_reduce.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="groupnorm_two_pass",
                grid=(RUNS, ONE, ONE),
                block=("128", ONE, ONE),
                shared="4 * 128",
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("y"),
                    int32("groups"),
                    int32("width"),
                    int32("pixels"),
                    # Four-element loads where runs begin at multiples of four.
                    int32("(size % 4 == 0) * (size // 4)"),
                    float32("eps"),
                ),
            ),
        )
    ),
)

SPLIT_MOMENTS = Substrate(
    name="split-moments",
    source="split_moments.cu",
    headers=("welford.cuh", "norm_block_moments.cuh"),
    plan=LaunchPlan(
        workspaces=(
            Workspace("counts", f"{RUNS} * {PARTS}"),
            Workspace("means", f"{RUNS} * {PARTS}"),
            Workspace("m2s", f"{RUNS} * {PARTS}"),
        ),
        steps=(
            Launch(
                kernel="groupnorm_part_moments",
                grid=(PARTS, RUNS, ONE),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("counts"),
                    pointer("means"),
                    pointer("m2s"),
                    int32("size"),
                    int32(LENGTH),
                ),
            ),
            Launch(
                kernel="groupnorm_parts",
                grid=(PARTS, RUNS, ONE),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("counts"),
                    pointer("means"),
                    pointer("m2s"),
                    pointer("y"),
                    int32("groups"),
                    int32("width"),
                    int32("pixels"),
                    int32(LENGTH),
                    float32("eps"),
                ),
            ),
        ),
    ),
)

FORMULA = Standardisation(
    rows=rows,
    back=lambda matrix, shape: matrix.reshape(shape),
    affine=by_channel,
    eps=EPS,
)

PROBLEM = Problem(
    id="level1/035",
    benchmark="kernelbench",
    level=1,
    name="35_GroupNorm_",
    operation_class=OperationClass.NORMALIZATION,
    # Blocks take runs, or halves of them, in steps of 128. The number of groups is the module's
    # argument; a group of one element has no variance, which the benchmark's layer refuses.
    dimensions=(
        Dimension("batch", 112, DimensionKind.PARALLEL),
        Dimension("groups", GROUPS, DimensionKind.PARALLEL, fixed=True),
        Dimension("width", 8, DimensionKind.REDUCED, tile=2),
        Dimension("dim1", 512, DimensionKind.REDUCED, tile=4),
        Dimension("dim2", 512, DimensionKind.REDUCED, tile=32, minimum=2),
    ),
    derived={
        "features": "groups * width",
        "pixels": "dim1 * dim2",
        "size": "width * pixels",
    },
    scalars={"eps": EPS},
    inputs=(TensorSpec("x", SHAPE),),
    parameters=(
        ParameterSpec("weight", ("features",), ParameterRole.SCALE),
        ParameterSpec("bias", ("features",), ParameterRole.SHIFT),
    ),
    outputs=(TensorSpec("y", SHAPE),),
    reference=reference,
    initialise=affine_identity,
    magnitude=FORMULA.magnitude,
    reduction_length="size",
    substrates=(TWO_PASS, SPLIT_MOMENTS),
    controls=(
        *FORMULA.controls(TWO_PASS),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
