"""KernelBench level 1, problem 33: BatchNorm of images on the statistics of the batch."""

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
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, int64, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
THREADS = "128"
EPS = 1e-5
SHAPE = ("batch", "features", "dim1", "dim2")
# Blocks that share the images of a channel.
PARTS = "min(batch, 8)"


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes: it is in training mode, as modules begin."""
    x, weight, bias = tensors["x"], tensors["weight"], tensors["bias"]
    y = torch.nn.functional.batch_norm(x, None, None, weight, bias, training=True, eps=EPS)
    return {"y": y}


def rows(x: Tensor) -> Tensor:
    """Return a row for each channel: the pixels of all images."""
    return x.transpose(0, 1).flatten(1)


def back(matrix: Tensor, shape: torch.Size) -> Tensor:
    """Return images from a row for each channel."""
    return matrix.reshape(shape[1], shape[0], *shape[2:]).transpose(0, 1).contiguous()


CHANNEL_BLOCK = Substrate(
    name="channel-block",
    source="channel_block.cu",
    headers=("welford.cuh", "norm_block_moments.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="batchnorm_channel",
                grid=("features", ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("y"),
                    int32("batch"),
                    int32("features"),
                    int32("pixels"),
                    float32("eps"),
                ),
            ),
        )
    ),
)

SPLIT_TWO_PASS = Substrate(
    name="split-two-pass",
    source="split_two_pass.cu",
    headers=("tree_reduce.cuh",),
    plan=LaunchPlan(
        workspaces=(
            Workspace("sums", f"features * {PARTS}"),
            Workspace("squares", f"features * {PARTS}"),
            Workspace("factors", "features"),
            Workspace("addends", "features"),
        ),
        steps=(
            Launch(
                kernel="batchnorm_sums",
                grid=(PARTS, "features", ONE),
                block=(THREADS, ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("sums"),
                    int32("batch"),
                    int32("features"),
                    int32("pixels"),
                ),
            ),
            Launch(
                kernel="batchnorm_squares",
                grid=(PARTS, "features", ONE),
                block=(THREADS, ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("sums"),
                    pointer("squares"),
                    int32("batch"),
                    int32("features"),
                    int32("pixels"),
                ),
            ),
            Launch(
                kernel="batchnorm_factors",
                grid=("ceil_div(features, 32)", ONE, ONE),
                block=("32", ONE, ONE),
                arguments=(
                    pointer("sums"),
                    pointer("squares"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("factors"),
                    pointer("addends"),
                    int32("features"),
                    int32(PARTS),
                    float32("count"),
                    float32("eps"),
                ),
            ),
            # Half as many threads as there are elements: the grid-stride loop runs twice.
            Launch(
                kernel="batchnorm_apply",
                grid=("min(ceil_div(elements, 256), 1056)", ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("factors"),
                    pointer("addends"),
                    pointer("y"),
                    int32("features"),
                    int32("pixels"),
                    int64("elements"),
                ),
            ),
        ),
    ),
)

ATOMICS = Substrate(
    name="atomic-sums",
    source="atomics.cu",
    headers=("warp_reduce.cuh", "block_reduce.cuh"),
    plan=LaunchPlan(
        workspaces=(
            Workspace("sums", "features", zeroed=True),
            Workspace("squares", "features", zeroed=True),
        ),
        steps=(
            Launch(
                kernel="batchnorm_atomic_sum",
                grid=("batch * features", ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(pointer("x"), pointer("sums"), int32("features"), int32("pixels")),
            ),
            Launch(
                kernel="batchnorm_atomic_square",
                grid=("batch * features", ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("sums"),
                    pointer("squares"),
                    int32("features"),
                    int32("pixels"),
                    float32("count"),
                ),
            ),
            Launch(
                kernel="batchnorm_atomic_apply",
                grid=("batch * features", ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("sums"),
                    pointer("squares"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("y"),
                    int32("features"),
                    int32("pixels"),
                    float32("count"),
                    float32("eps"),
                ),
            ),
        ),
    ),
)

FORMULA = Standardisation(rows, back, by_channel, EPS)

PROBLEM = Problem(
    id="level1/033",
    benchmark="kernelbench",
    level=1,
    name="33_BatchNorm",
    operation_class=OperationClass.NORMALIZATION,
    # Blocks take the pixels of a plane in steps of 128. One value a channel has no variance: the
    # benchmark's layer refuses it.
    dimensions=(
        Dimension("batch", 64, DimensionKind.REDUCED, minimum=2),
        Dimension("features", 64, DimensionKind.PARALLEL),
        Dimension("dim1", 512, DimensionKind.REDUCED, tile=2),
        Dimension("dim2", 512, DimensionKind.REDUCED, tile=64),
    ),
    derived={
        "pixels": "dim1 * dim2",
        "count": "batch * pixels",
        "elements": "count * features",
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
    reduction_length="count",
    substrates=(CHANNEL_BLOCK, SPLIT_TWO_PASS),
    controls=(
        *FORMULA.controls(CHANNEL_BLOCK),
        Control("atomics", "atomics", substrate=ATOMICS),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
