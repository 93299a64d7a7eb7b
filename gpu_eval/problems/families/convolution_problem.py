"""Problems that are one forward convolution: specs, controls and their `Problem`."""

from collections.abc import Callable, Mapping

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
from gpu_eval.problems.families.convolution import Convolution
from gpu_eval.problems.orders import Order, ordered_controls
from suiteopt.matrix.schema import OperationClass


def convolution_problem(
    convolution: Convolution,
    *,
    number: int,
    name: str,
    axes: tuple[str, ...],
    kernel: tuple[str, ...],
    dimensions: tuple[Dimension, ...],
    derived: Mapping[str, str],
    substrates: tuple[Substrate, ...],
    scalars: Mapping[str, int] | None = None,
) -> Problem:
    """Return a KernelBench level 1 problem that is one convolution of ``x`` to ``y``.

    Parameters
    ----------
    convolution : Convolution
    number, name : int, str
        As the benchmark has them.
    axes, kernel : tuple of str
        Names of the spatial dimensions, and expressions for the kernel's size along them. The
        derived sizes ``out_<axis>`` are the output's.
    dimensions : tuple of Dimension
        Among them ``batch``, ``in_channels`` and ``out_channels``; a depthwise convolution has
        ``channels`` in their place.
    derived, scalars, substrates
        As in `Problem`. The control with fused multiply-adds off is of the first substrate.
    """
    depthwise = convolution.depthwise
    into, out = ("channels", "channels") if depthwise else ("in_channels", "out_channels")
    taps = " * ".join(kernel)
    return Problem(
        id=f"level1/{number:03d}",
        benchmark="kernelbench",
        level=1,
        name=name,
        operation_class=OperationClass.CONVOLUTION,
        dimensions=dimensions,
        derived=derived,
        scalars=scalars or {},
        inputs=(TensorSpec("x", ("batch", into, *axes)),),
        parameters=(
            ParameterSpec(
                "weight", (out, "1" if depthwise else into, *kernel), ParameterRole.WEIGHT
            ),
        ),
        outputs=(TensorSpec("y", ("batch", out, *(f"out_{axis}" for axis in axes))),),
        reference=named(convolution.apply),
        initialise=lambda shapes: {"weight": convolution.layer(shapes["weight"])},
        magnitude=absolute(named(convolution.apply)),
        reduction_length=taps if depthwise else f"in_channels * {taps}",
        exact_lattice=True,
        substrates=substrates,
        controls=convolution_controls(convolution, substrates[0]),
    )


def named(
    run: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
) -> Callable[[Tensors], Tensors]:
    """Return a function of x and weight as one of named tensors."""
    return lambda tensors: {"y": run(tensors["x"], tensors["weight"])}


def absolute(run: Callable[[Tensors], Tensors]) -> Callable[[Tensors], Tensors]:
    """Return a function of named tensors on their absolute values."""
    return lambda tensors: run({name: tensor.abs() for name, tensor in tensors.items()})


def convolution_controls(convolution: Convolution, fused: Substrate) -> tuple[Control, ...]:
    """Return the controls of a convolution.

    Parameters
    ----------
    convolution : Convolution
    fused : Substrate
        What the control without fused multiply-adds is compiled from.
    """

    def in_order(tensors: Tensors, order: Order) -> Tensors:
        return {"y": convolution.in_order(tensors["x"], tensors["weight"], order)}

    split = (
        Control("by-tap", "split_k", run=named(convolution.by_taps))
        if convolution.depthwise
        else Control("by-channel", "split_k", run=named(convolution.by_channels))
    )
    transformed = (
        (Control("winograd", "winograd", run=named(convolution.winograd)),)
        if convolution.winograd_axis() is not None
        else ()
    )
    return (
        *ordered_controls(in_order),
        Control("unfold", "algorithm", run=named(convolution.by_unfolding)),
        split,
        *transformed,
        Control("fma-off", "fma_off", substrate=fused, flags=("-ffp-contract=off",)),
        Control("eager", "eager", run=named(convolution.apply), identical=True),
    )


def parallel(name: str, size: int, tile: int = 1, minimum: int = 1) -> Dimension:
    """Return a dimension that may shrink."""
    return Dimension(name, size, DimensionKind.PARALLEL, tile=tile, minimum=minimum)


def summed(name: str, size: int, tile: int = 1) -> Dimension:
    """Return the dimension of input channels, shortened only where nothing else helps."""
    return Dimension(name, size, DimensionKind.REDUCED, tile=tile, minimum=min(size, 2))


def fixed(name: str, size: int) -> Dimension:
    """Return a reduced dimension that is never shortened or varied: a kernel size."""
    return Dimension(name, size, DimensionKind.REDUCED, fixed=True)
