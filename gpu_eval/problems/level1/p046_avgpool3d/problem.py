"""KernelBench level 1, problem 46: 3D average pooling, 3 x 3 x 3, stride 2, padding 1 counted."""

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
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
WINDOW = Window(axes=3, kernel=3, stride=2, padding=1)
OUT_SIZE = "({0} + 2 * padding - kernel) // stride + 1"
SIZES = tuple(
    int32(name) for name in ("depth", "height", "width", "out_depth", "out_height", "out_width")
)


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    y = torch.nn.functional.avg_pool3d(
        tensors["x"], WINDOW.kernel, WINDOW.stride, WINDOW.padding, count_include_pad=True
    )
    return {"y": y}


def magnitude(tensors: Tensors) -> Tensors:
    """Average the absolute values."""
    return reference({"x": tensors["x"].abs()})


CLAMPED = Substrate(
    name="clamped",
    source="clamped.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="avgpool3d_clamped",
                grid=(
                    "ceil_div(out_width, 32)",
                    "ceil_div(out_height, 4)",
                    "batch * channels * out_depth",
                ),
                block=("32", "4", ONE),
                arguments=(
                    pointer("x"),
                    pointer("y"),
                    *SIZES,
                    int32("kernel"),
                    int32("stride"),
                    int32("padding"),
                ),
            ),
        )
    ),
)

MARCHING = Substrate(
    name="marching",
    source="marching.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="avgpool3d_marching",
                grid=(
                    "ceil_div(out_height * out_width, 128)",
                    "ceil_div(out_depth, 5)",
                    "batch * channels",
                ),
                block=("128", ONE, ONE),
                arguments=(pointer("x"), pointer("y"), *SIZES),
            ),
        )
    ),
)

PROBLEM = Problem(
    id="level1/046",
    benchmark="kernelbench",
    level=1,
    name="46_Average_Pooling_3D",
    operation_class=OperationClass.POOLING,
    # Five outputs in depth are ten slices. Height, equal to depth in the contract, shrinks with it.
    dimensions=(
        Dimension("batch", 16, DimensionKind.PARALLEL),
        Dimension("channels", 32, DimensionKind.PARALLEL),
        Dimension("depth", 128, DimensionKind.PARALLEL, tile=10, minimum=3),
        Dimension("height", 128, DimensionKind.PARALLEL, tile=2, minimum=3),
        Dimension("width", 256, DimensionKind.PARALLEL, tile=64, minimum=3),
    ),
    derived={f"out_{name}": OUT_SIZE.format(name) for name in ("depth", "height", "width")},
    scalars={"kernel": WINDOW.kernel, "stride": WINDOW.stride, "padding": WINDOW.padding},
    inputs=(TensorSpec("x", ("batch", "channels", "depth", "height", "width")),),
    outputs=(TensorSpec("y", ("batch", "channels", "out_depth", "out_height", "out_width")),),
    reference=reference,
    magnitude=magnitude,
    reduction_length="kernel * kernel * kernel",
    substrates=(CLAMPED, MARCHING),
    controls=(
        *average_controls(WINDOW, reference),
        Control("fma-off", "fma_off", substrate=MARCHING, flags=("-ffp-contract=off",)),
    ),
)
