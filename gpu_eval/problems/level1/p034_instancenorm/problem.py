"""KernelBench level 1, problem 34: InstanceNorm of images, without parameters."""

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
from gpu_eval.problems.families.normalisation import Standardisation, plain
from gpu_eval.problems.plan import Launch, LaunchPlan, float32, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
EPS = 1e-5
SHAPE = ("batch", "features", "dim1", "dim2")
PLANES = "batch * features"


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"y": torch.nn.functional.instance_norm(tensors["x"], use_input_stats=True, eps=EPS)}


PLANE_BLOCK = Substrate(
    name="plane-block",
    source="plane_block.cu",
    headers=("warp_reduce.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="instancenorm_plane",
                grid=(PLANES, ONE, ONE),
                block=("32", "4", ONE),
                arguments=(
                    pointer("x"),
                    pointer("y"),
                    int32("dim1"),
                    int32("dim2"),
                    float32("eps"),
                ),
            ),
        )
    ),
)

PAIRS = Substrate(
    name="pairs",
    source="pairs.cu",
    headers=("welford.cuh", "norm_block_moments.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="instancenorm_pairs",
                grid=(PLANES, ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(pointer("x"), pointer("y"), int32("pixels"), float32("eps")),
            ),
        )
    ),
)

FORMULA = Standardisation(
    rows=lambda x: x.flatten(0, 1).flatten(1),
    back=lambda matrix, shape: matrix.reshape(shape),
    affine=plain,
    eps=EPS,
)

PROBLEM = Problem(
    id="level1/034",
    benchmark="kernelbench",
    level=1,
    name="34_InstanceNorm",
    operation_class=OperationClass.NORMALIZATION,
    # Blocks take planes in steps of 4 x 32, or of 256 pixels. A plane of one pixel has no variance:
    # the benchmark's layer refuses it.
    dimensions=(
        Dimension("batch", 112, DimensionKind.PARALLEL),
        Dimension("features", 64, DimensionKind.PARALLEL),
        Dimension("dim1", 512, DimensionKind.REDUCED, tile=8),
        Dimension("dim2", 512, DimensionKind.REDUCED, tile=32, minimum=2),
    ),
    derived={"pixels": "dim1 * dim2"},
    scalars={"eps": EPS},
    inputs=(TensorSpec("x", SHAPE),),
    outputs=(TensorSpec("y", SHAPE),),
    reference=reference,
    magnitude=FORMULA.magnitude,
    reduction_length="pixels",
    substrates=(PLANE_BLOCK, PAIRS),
    controls=(
        *FORMULA.controls(PLANE_BLOCK),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
