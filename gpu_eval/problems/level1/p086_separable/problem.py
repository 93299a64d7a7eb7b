"""KernelBench level 1, problem 86: a depthwise 3 x 3 convolution, then a pointwise one."""

from collections.abc import Mapping

from gpu_eval.problems.definition import (
    Control,
    ParameterRole,
    ParameterSpec,
    Problem,
    Substrate,
    Tensors,
    TensorSpec,
)
from gpu_eval.problems.families.convolution import Convolution
from gpu_eval.problems.families.convolution_problem import (
    absolute,
    fixed,
    parallel,
    summed,
)
from gpu_eval.problems.orders import Order, ordered_controls
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, int32, pointer
from suiteopt.matrix.schema import OperationClass

PADDING = 1
DEPTHWISE = Convolution((3, 3), padding=(PADDING, PADDING), depthwise=True)
POINTWISE = Convolution((1, 1))


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    middle = DEPTHWISE.apply(tensors["x"], tensors["depthwise_weight"])
    return {"y": POINTWISE.apply(middle, tensors["pointwise_weight"])}


def initialise(shapes: Mapping[str, tuple[int, ...]]) -> Tensors:
    """Draw both weights as the benchmark's layers do, the depthwise one first."""
    depthwise = DEPTHWISE.layer(shapes["depthwise_weight"])
    return {
        "depthwise_weight": depthwise,
        "pointwise_weight": POINTWISE.layer(shapes["pointwise_weight"]),
    }


def in_order(tensors: Tensors, order: Order) -> Tensors:
    """Add the rounded products of both sums in a given order."""
    middle = DEPTHWISE.in_order(tensors["x"], tensors["depthwise_weight"], order)
    return {"y": POINTWISE.in_order(middle, tensors["pointwise_weight"], order)}


def by_unfolding(tensors: Tensors) -> Tensors:
    """Multiply the unfolded patches, then the channels, with the library's matrix product."""
    middle = DEPTHWISE.by_unfolding(tensors["x"], tensors["depthwise_weight"])
    return {"y": POINTWISE.by_unfolding(middle, tensors["pointwise_weight"])}


def by_parts(tensors: Tensors) -> Tensors:
    """Add the library's convolutions with single rows of taps, then with groups of channels."""
    middle = DEPTHWISE.by_taps(tensors["x"], tensors["depthwise_weight"])
    return {"y": POINTWISE.by_channels(middle, tensors["pointwise_weight"])}


def winograd(tensors: Tensors) -> Tensors:
    """Compute pairs of depthwise outputs from four products."""
    middle = DEPTHWISE.winograd(tensors["x"], tensors["depthwise_weight"])
    return {"y": POINTWISE.apply(middle, tensors["pointwise_weight"])}


def as_one(tensors: Tensors) -> Tensors:
    """Merge both weights to those of one ordinary convolution, whose products are rounded."""
    merged = tensors["pointwise_weight"] * tensors["depthwise_weight"].transpose(0, 1)
    whole = Convolution(DEPTHWISE.kernel, padding=DEPTHWISE.padding)
    return {"y": whole.apply(tensors["x"], merged)}


TWO_LAUNCHES = Substrate(
    name="two-launches",
    source="two_launches.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="depthwise_padded",
                grid=("ceil_div(width, 16)", "ceil_div(height, 8)", "batch * in_channels"),
                block=("16", "8", "1"),
                arguments=(
                    pointer("x"),
                    pointer("depthwise_weight"),
                    pointer("middle"),
                    int32("in_channels"),
                    int32("height"),
                    int32("width"),
                    int32("kernel"),
                    int32("padding"),
                ),
            ),
            Launch(
                kernel="pointwise_product",
                grid=("ceil_div(height * width, 64)", "ceil_div(out_channels, 24)", "batch"),
                block=("128", "1", "1"),
                arguments=(
                    pointer("middle"),
                    pointer("pointwise_weight"),
                    pointer("y"),
                    int32("in_channels"),
                    int32("out_channels"),
                    int32("height * width"),
                ),
            ),
        ),
        workspaces=(Workspace("middle", "batch * in_channels * height * width"),),
    ),
)

FUSED = Substrate(
    name="fused",
    source="fused.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="separable_fused",
                grid=("ceil_div(width, 16)", "height", "batch"),
                block=("16", "8", "1"),
                shared="4 * in_channels * 16",
                arguments=(
                    pointer("x"),
                    pointer("depthwise_weight"),
                    pointer("pointwise_weight"),
                    pointer("y"),
                    int32("in_channels"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                ),
            ),
        )
    ),
)

PROBLEM = Problem(
    id="level1/086",
    benchmark="kernelbench",
    level=1,
    name="86_conv_depthwise_separable_2D",
    operation_class=OperationClass.CONVOLUTION,
    dimensions=(
        parallel("batch", 16),
        summed("in_channels", 64, tile=8),
        parallel("height", 512, tile=16, minimum=2),
        parallel("width", 512, tile=16, minimum=2),
        parallel("out_channels", 128, tile=24),
        fixed("kernel", 3),
    ),
    scalars={"padding": PADDING},
    inputs=(TensorSpec("x", ("batch", "in_channels", "height", "width")),),
    parameters=(
        ParameterSpec(
            "depthwise_weight", ("in_channels", "1", "kernel", "kernel"), ParameterRole.WEIGHT
        ),
        ParameterSpec(
            "pointwise_weight", ("out_channels", "in_channels", "1", "1"), ParameterRole.WEIGHT
        ),
    ),
    outputs=(TensorSpec("y", ("batch", "out_channels", "height", "width")),),
    reference=reference,
    initialise=initialise,
    magnitude=absolute(reference),
    # Additions between a tap and the output, not the 576 products that an output is made of: the
    # sums over taps are rounded before the channels are summed.
    reduction_length="in_channels + kernel * kernel",
    exact_lattice=True,
    substrates=(TWO_LAUNCHES, FUSED),
    controls=(
        *ordered_controls(in_order),
        Control("unfold", "algorithm", run=by_unfolding),
        Control("merged-weights", "algorithm", run=as_one),
        Control("by-parts", "split_k", run=by_parts),
        Control("winograd", "winograd", run=winograd),
        Control("fma-off", "fma_off", substrate=TWO_LAUNCHES, flags=("-ffp-contract=off",)),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
