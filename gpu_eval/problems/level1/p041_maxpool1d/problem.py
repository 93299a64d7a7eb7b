"""KernelBench level 1, problem 41: 1D max-pooling, 8 taps 3 apart, stride 1, padding 4."""

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
from gpu_eval.problems.families.pooling import Window, max_controls
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, int64, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
WINDOW = Window(axes=1, kernel=8, stride=1, padding=4, dilation=3)
# At least 1,024 outputs a block where there are that many, at least two blocks always.
BLOCKS = "max(2, min(8192, ceil_div(outputs, 1024)))"


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    y = torch.nn.functional.max_pool1d(
        tensors["x"], WINDOW.kernel, WINDOW.stride, WINDOW.padding, WINDOW.dilation
    )
    return {"y": y}


def by_pairs(tensors: Tensors) -> Tensors:
    """Take maxima of two taps, then of two such two taps apart, and so on."""
    x = WINDOW.padded(tensors["x"], float("-inf"))
    for taps in (1, 2, 4):
        size = x.shape[2] - taps * WINDOW.dilation
        x = torch.maximum(x[:, :, :size], x[:, :, taps * WINDOW.dilation :])
    return {"y": x.contiguous()}


FLAT = Substrate(
    name="flat",
    source="flat.cu",
    headers=("limits.cuh", "pool_nan.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="maxpool1d_flat",
                grid=(BLOCKS, ONE, ONE),
                block=("256", ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("y"),
                    int64("outputs"),
                    int32("length"),
                    int32("out_length"),
                    int32("kernel"),
                    int32("stride"),
                    int32("padding"),
                    int32("dilation"),
                ),
            ),
        )
    ),
)

DOUBLING = Substrate(
    name="doubling",
    source="doubling.cu",
    headers=("limits.cuh", "pool_nan.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="maxpool1d_doubling",
                grid=("batch * features", "ceil_div(out_length, 128)", ONE),
                block=("128", ONE, ONE),
                arguments=(pointer("x"), pointer("y"), int32("length"), int32("out_length")),
            ),
        )
    ),
)

PROBLEM = Problem(
    id="level1/041",
    benchmark="kernelbench",
    level=1,
    name="41_Max_Pooling_1D",
    operation_class=OperationClass.POOLING,
    # The shortest line that still gives an output: the window's 22 positions less the padding.
    dimensions=(
        Dimension("batch", 64, DimensionKind.PARALLEL),
        Dimension("features", 192, DimensionKind.PARALLEL),
        Dimension("length", 65536, DimensionKind.PARALLEL, tile=128, minimum=14),
    ),
    derived={
        "out_length": "(length + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1",
        "outputs": "batch * features * out_length",
    },
    scalars={
        "kernel": WINDOW.kernel,
        "stride": WINDOW.stride,
        "padding": WINDOW.padding,
        "dilation": WINDOW.dilation,
    },
    inputs=(TensorSpec("x", ("batch", "features", "length")),),
    outputs=(TensorSpec("y", ("batch", "features", "out_length")),),
    reference=reference,
    rounds=False,
    substrates=(FLAT, DOUBLING),
    controls=max_controls(
        WINDOW, reference, Control("pairs", "pairwise", run=by_pairs, identical=True)
    ),
)
