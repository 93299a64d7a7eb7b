"""KernelBench level 1, problem 43: 3D max-pooling, 3 x 3 x 3 taps 3 apart, stride 2, padding 1."""

import torch

from gpu_eval.problems.definition import (
    Dimension,
    DimensionKind,
    Problem,
    Substrate,
    Tensors,
    TensorSpec,
)
from gpu_eval.problems.families.pooling import Window, max_controls
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
WINDOW = Window(axes=3, kernel=3, stride=2, padding=1, dilation=3)
OUT_SIZE = "({0} + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1"
SIZES = tuple(
    int32(name) for name in ("depth", "height", "width", "out_depth", "out_height", "out_width")
)


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    y = torch.nn.functional.max_pool3d(
        tensors["x"], WINDOW.kernel, WINDOW.stride, WINDOW.padding, WINDOW.dilation
    )
    return {"y": y}


DIRECT = Substrate(
    name="direct",
    source="direct.cu",
    headers=("limits.cuh", "pool_nan.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="maxpool3d_direct",
                grid=(
                    "ceil_div(out_width, 8)",
                    "ceil_div(out_height, 4)",
                    "batch * channels * ceil_div(out_depth, 4)",
                ),
                block=("8", "4", "4"),
                arguments=(
                    pointer("x"),
                    pointer("y"),
                    *SIZES,
                    int32("ceil_div(out_depth, 4)"),
                    int32("kernel"),
                    int32("stride"),
                    int32("padding"),
                    int32("dilation"),
                ),
            ),
        )
    ),
)

COLUMNS_FIRST = Substrate(
    name="columns-first",
    source="columns_first.cu",
    headers=("limits.cuh", "pool_nan.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="maxpool3d_columns_first",
                grid=(
                    "ceil_div(out_width, 8)",
                    "ceil_div(out_height, 8)",
                    "batch * channels * ceil_div(out_depth, 2)",
                ),
                block=("8", "8", "2"),
                arguments=(
                    pointer("x"),
                    pointer("y"),
                    *SIZES,
                    int32("ceil_div(out_depth, 2)"),
                ),
            ),
        )
    ),
)

PROBLEM = Problem(
    id="level1/043",
    benchmark="kernelbench",
    level=1,
    name="43_Max_Pooling_3D",
    operation_class=OperationClass.POOLING,
    # The smallest volume that still gives an output: the window's 7 positions less the padding.
    dimensions=(
        Dimension("batch", 16, DimensionKind.PARALLEL),
        Dimension("channels", 32, DimensionKind.PARALLEL),
        Dimension("depth", 128, DimensionKind.PARALLEL, tile=8, minimum=5),
        Dimension("height", 128, DimensionKind.PARALLEL, tile=16, minimum=5),
        Dimension("width", 128, DimensionKind.PARALLEL, tile=16, minimum=5),
    ),
    derived={f"out_{name}": OUT_SIZE.format(name) for name in ("depth", "height", "width")},
    scalars={
        "kernel": WINDOW.kernel,
        "stride": WINDOW.stride,
        "padding": WINDOW.padding,
        "dilation": WINDOW.dilation,
    },
    inputs=(TensorSpec("x", ("batch", "channels", "depth", "height", "width")),),
    outputs=(TensorSpec("y", ("batch", "channels", "out_depth", "out_height", "out_width")),),
    reference=reference,
    rounds=False,
    substrates=(DIRECT, COLUMNS_FIRST),
    controls=max_controls(WINDOW, reference),
)
