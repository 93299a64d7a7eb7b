"""KernelBench level 1, problem 42: 2D max-pooling, 4 x 4 with stride 1 and padding 1."""

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
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
KERNEL, STRIDE, PADDING, DILATION = 4, 1, 1, 1


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    y = torch.nn.functional.max_pool2d(tensors["x"], KERNEL, STRIDE, PADDING, DILATION)
    return {"y": y}


def by_shifts(tensors: Tensors) -> Tensors:
    """Take the maximum over the shifted views of a padded image, tap by tap."""
    taps = [tap for rows in _windows(_padded(tensors["x"]), 2) for tap in _windows(rows, 3)]
    return {"y": _fold(taps)}


def by_axes(tensors: Tensors) -> Tensors:
    """Take the maximum along columns, then along rows."""
    return {"y": _fold(_windows(_fold(_windows(_padded(tensors["x"]), 2)), 3))}


def by_doubling(tensors: Tensors) -> Tensors:
    """Take maxima of 2 x 2 windows, then of four such two apart: log2(4) steps along each axis."""
    x = _padded(tensors["x"])
    for axis in (2, 3):
        for step in (1, 2):
            size = x.shape[axis] - step
            x = torch.maximum(x.narrow(axis, 0, size), x.narrow(axis, step, size))
    return {"y": x.contiguous()}


def _padded(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.pad(x, (PADDING,) * 4, value=float("-inf"))


def _windows(x: torch.Tensor, axis: int) -> list[torch.Tensor]:
    size = x.shape[axis] - DILATION * (KERNEL - 1)
    return [x.narrow(axis, DILATION * k, size) for k in range(KERNEL)]


def _fold(parts: list[torch.Tensor]) -> torch.Tensor:
    best = parts[0].clone()
    for part in parts[1:]:
        best = torch.maximum(best, part)
    return best


DIRECT = Substrate(
    name="direct",
    source="direct.cu",
    headers=("limits.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="maxpool2d_direct",
                grid=("ceil_div(out_width, 16)", "ceil_div(out_height, 8)", "batch * channels"),
                block=("16", "8", ONE),
                arguments=(
                    pointer("x"),
                    pointer("y"),
                    int32("height"),
                    int32("width"),
                    int32("out_height"),
                    int32("out_width"),
                    int32("kernel"),
                    int32("stride"),
                    int32("padding"),
                    int32("dilation"),
                ),
            ),
        )
    ),
)

SEPARABLE = Substrate(
    name="separable",
    source="separable.cu",
    headers=("limits.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="maxpool2d_separable",
                grid=("ceil_div(out_width, 16)", "ceil_div(out_height, 16)", "batch * channels"),
                block=("16", "16", ONE),
                arguments=(
                    pointer("x"),
                    pointer("y"),
                    int32("height"),
                    int32("width"),
                    int32("out_height"),
                    int32("out_width"),
                ),
            ),
        )
    ),
)

PROBLEM = Problem(
    id="level1/042",
    benchmark="kernelbench",
    level=1,
    name="42_Max_Pooling_2D",
    operation_class=OperationClass.POOLING,
    # The smallest image that still gives an output: kernel - 2 * padding.
    dimensions=(
        Dimension("batch", 32, DimensionKind.PARALLEL),
        Dimension("channels", 64, DimensionKind.PARALLEL),
        Dimension("height", 512, DimensionKind.PARALLEL, tile=16, minimum=2),
        Dimension("width", 512, DimensionKind.PARALLEL, tile=16, minimum=2),
    ),
    derived={
        "out_height": "(height + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1",
        "out_width": "(width + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1",
    },
    scalars={"kernel": KERNEL, "stride": STRIDE, "padding": PADDING, "dilation": DILATION},
    inputs=(TensorSpec("x", ("batch", "channels", "height", "width")),),
    outputs=(TensorSpec("y", ("batch", "channels", "out_height", "out_width")),),
    reference=reference,
    rounds=False,
    substrates=(DIRECT, SEPARABLE),
    controls=(
        Control("shifts", "serial", run=by_shifts, identical=True),
        Control("axes", "separable", run=by_axes, identical=True),
        Control("doubling", "pairwise", run=by_doubling, identical=True),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
