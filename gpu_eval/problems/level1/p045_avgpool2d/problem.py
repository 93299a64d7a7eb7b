"""KernelBench level 1, problem 45: 2D average pooling of 11 x 11 windows side by side."""

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
from gpu_eval.problems.families.pooling import Window, average_controls
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, int64, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
# The benchmark gives the kernel size alone: the stride is the same, and there is no padding.
WINDOW = Window(axes=2, kernel=11, stride=11)


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"y": torch.nn.functional.avg_pool2d(tensors["x"], WINDOW.kernel)}


def magnitude(tensors: Tensors) -> Tensors:
    """Average the absolute values."""
    return reference({"x": tensors["x"].abs()})


WARP_WINDOWS = Substrate(
    name="warp-windows",
    source="warp_windows.cu",
    headers=("warp_reduce.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="avgpool2d_warp_windows",
                grid=("ceil_div(outputs, 4)", ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("y"),
                    int64("outputs"),
                    int32("height"),
                    int32("width"),
                    int32("out_height"),
                    int32("out_width"),
                    int32("kernel"),
                ),
            ),
        )
    ),
)

COLUMN_SUMS = Substrate(
    name="column-sums",
    source="column_sums.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="avgpool2d_column_sums",
                grid=("ceil_div(out_width, 11)", "out_height", "batch * channels"),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("y"),
                    int32("height"),
                    int32("width"),
                    int32("out_width"),
                ),
            ),
        )
    ),
)

PROBLEM = Problem(
    id="level1/045",
    benchmark="kernelbench",
    level=1,
    name="45_Average_Pooling_2D",
    operation_class=OperationClass.POOLING,
    # 2048 is 186 windows and two pixels that no window takes; a block takes 11 windows.
    dimensions=(
        Dimension("batch", 16, DimensionKind.PARALLEL),
        Dimension("channels", 64, DimensionKind.PARALLEL),
        Dimension("height", 2048, DimensionKind.PARALLEL, tile=11, minimum=11),
        Dimension("width", 2048, DimensionKind.PARALLEL, tile=121, minimum=11),
    ),
    derived={
        "out_height": "height // kernel",
        "out_width": "width // kernel",
        "outputs": "batch * channels * out_height * out_width",
    },
    scalars={"kernel": WINDOW.kernel},
    inputs=(TensorSpec("x", ("batch", "channels", "height", "width")),),
    outputs=(TensorSpec("y", ("batch", "channels", "out_height", "out_width")),),
    reference=reference,
    magnitude=magnitude,
    reduction_length="kernel * kernel",
    substrates=(WARP_WINDOWS, COLUMN_SUMS),
    controls=(
        *average_controls(WINDOW, reference),
        Control("fma-off", "fma_off", substrate=COLUMN_SUMS, flags=("-ffp-contract=off",)),
    ),
)
