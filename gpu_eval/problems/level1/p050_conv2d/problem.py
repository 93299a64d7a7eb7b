"""KernelBench level 1, problem 50: the first convolution of AlexNet, 11 x 11 with stride 4."""

from collections.abc import Mapping

import torch

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
from gpu_eval.problems.orders import Order, ordered_controls
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
STRIDE, PADDING = 4, 2


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    weight, bias = tensors["weight"], tensors["bias"]
    return {"y": torch.nn.functional.conv2d(tensors["x"], weight, bias, STRIDE, PADDING)}


def magnitude(tensors: Tensors) -> Tensors:
    """Sum the absolute products and the absolute bias."""
    return reference({name: tensor.abs() for name, tensor in tensors.items()})


def initialise(shapes: Mapping[str, tuple[int, ...]]) -> Tensors:
    """Draw weight and bias as ``nn.Conv2d`` does: its own constructor does the drawing."""
    out_channels, in_channels, kernel, _ = shapes["weight"]
    layer = torch.nn.Conv2d(in_channels, out_channels, kernel, stride=STRIDE, padding=PADDING)
    return {"weight": layer.weight.detach(), "bias": layer.bias.detach()}  # type: ignore[union-attr]


def in_order(tensors: Tensors, order: Order) -> Tensors:
    """Add the rounded products of one tap after another in a given order, then the bias."""
    patches, weight = _patches(tensors["x"], tensors["weight"])
    taps, columns = patches.unbind(1), weight.unbind(1)
    total = order(lambda k: columns[k][:, None] * taps[k][:, None, :], weight.shape[1])
    return _image(tensors, total + tensors["bias"][:, None])


def by_unfolding(tensors: Tensors) -> Tensors:
    """Multiply the unfolded patches with the library's matrix product."""
    patches, weight = _patches(tensors["x"], tensors["weight"])
    return _image(tensors, weight @ patches + tensors["bias"][:, None])


def by_channels(tensors: Tensors) -> Tensors:
    """Convolve the input channels one by one with the library and add their results."""
    x, weight = tensors["x"], tensors["weight"]
    y = torch.zeros(())
    for c in range(x.shape[1]):
        part = torch.nn.functional.conv2d(
            x[:, c : c + 1], weight[:, c : c + 1], None, STRIDE, PADDING
        )
        y = part if c == 0 else y + part
    return {"y": y + tensors["bias"][:, None, None]}


def _patches(x: torch.Tensor, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    kernel = weight.shape[2]
    patches = torch.nn.functional.unfold(x, kernel, padding=PADDING, stride=STRIDE)
    return patches, weight.flatten(1)


def _image(tensors: Tensors, flat: torch.Tensor) -> Tensors:
    height, width, kernel = *tensors["x"].shape[2:], tensors["weight"].shape[2]
    rows = (height + 2 * PADDING - kernel) // STRIDE + 1
    cols = (width + 2 * PADDING - kernel) // STRIDE + 1
    return {"y": flat.reshape(*flat.shape[:2], rows, cols)}


SIZES = (
    int32("in_channels"),
    int32("height"),
    int32("width"),
    int32("out_channels"),
    int32("out_height"),
    int32("out_width"),
)

DIRECT = Substrate(
    name="direct",
    source="direct.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv2d_direct",
                grid=("ceil_div(out_width, 16)", "out_height", "batch * ceil_div(out_channels, 8)"),
                block=("16", "8", ONE),
                shared="4 * 8 * in_channels * kernel * kernel",
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
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

IMPLICIT_GEMM = Substrate(
    name="implicit-gemm",
    source="implicit_gemm.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv2d_implicit_gemm",
                grid=(
                    "ceil_div(out_height * out_width, 16)",
                    "ceil_div(out_channels, 24)",
                    "batch",
                ),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("y"),
                    *SIZES,
                ),
            ),
        )
    ),
)

PROBLEM = Problem(
    id="level1/050",
    benchmark="kernelbench",
    level=1,
    name="50_conv_standard_2D__square_input__square_kernel",
    operation_class=OperationClass.CONVOLUTION,
    # Tiles of 16 outputs along the width, and of 16 pixels of a whole image: 16 times the stride
    # along either axis keeps both tails. The smallest image that gives an output has 7 rows.
    dimensions=(
        Dimension("batch", 256, DimensionKind.PARALLEL),
        Dimension("in_channels", 3, DimensionKind.REDUCED, fixed=True),
        Dimension("height", 224, DimensionKind.PARALLEL, tile=64, minimum=7),
        Dimension("width", 224, DimensionKind.PARALLEL, tile=64, minimum=7),
        Dimension("out_channels", 96, DimensionKind.PARALLEL, tile=24),
        Dimension("kernel", 11, DimensionKind.REDUCED, fixed=True),
    ),
    derived={
        "out_height": "(height + 2 * padding - kernel) // stride + 1",
        "out_width": "(width + 2 * padding - kernel) // stride + 1",
    },
    scalars={"stride": STRIDE, "padding": PADDING},
    inputs=(TensorSpec("x", ("batch", "in_channels", "height", "width")),),
    parameters=(
        ParameterSpec(
            "weight", ("out_channels", "in_channels", "kernel", "kernel"), ParameterRole.WEIGHT
        ),
        ParameterSpec("bias", ("out_channels",), ParameterRole.BIAS),
    ),
    outputs=(TensorSpec("y", ("batch", "out_channels", "out_height", "out_width")),),
    reference=reference,
    initialise=initialise,
    magnitude=magnitude,
    reduction_length="in_channels * kernel * kernel",
    exact_lattice=True,
    substrates=(DIRECT, IMPLICIT_GEMM),
    controls=(
        *ordered_controls(in_order),
        Control("unfold", "algorithm", run=by_unfolding),
        Control("by-channel", "split_k", run=by_channels),
        Control("fma-off", "fma_off", substrate=DIRECT, flags=("-ffp-contract=off",)),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
