"""Producers of fused problems: linear layers, convolutions and transposed convolutions."""

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from gpu_eval.problems.definition import ParameterRole, ParameterSpec, Tensors
from gpu_eval.problems.families.convolution import Convolution
from gpu_eval.problems.families.convolution_transposed import Axis, TransposedConvolution
from gpu_eval.problems.families.fused_stages import Bound, Shape, Stage, Trace
from gpu_eval.problems.families.matmul import Product
from gpu_eval.problems.orders import Order

Way = Callable[[Tensor, Tensors], Tensor]


class Producer(Stage):
    """A stage of products and sums.

    Attributes
    ----------
    weight, bias : str
        The parameters' names; no bias where that is empty.
    """

    weight: str
    bias: str
    exact = True
    sums = True

    def products(self, h: Tensor, weight: Tensor) -> Tensor:
        """Return the sums of products by the library, without the bias."""
        raise NotImplementedError

    def ways(self) -> tuple[tuple[str, str, Callable[[Tensor, Tensor], Tensor]], ...]:
        """Return name, control kind and function of other ways to `products`."""
        return ()

    def work(self, shape: Shape, trace: Trace) -> str:
        """Return an expression for the multiply-adds, given the shape in front of it."""
        return " * ".join((*self.shape(shape, trace), f"({self.terms(shape, trace)})"))

    def by(self, run: Callable[[Tensor, Tensor], Tensor]) -> Way:
        """Return a way to the whole stage from one to `products`."""
        return lambda h, tensors: self.with_bias(run(h, tensors[self.weight]), tensors)

    def with_bias(self, y: Tensor, tensors: Tensors) -> Tensor:
        """Add the bias along the second dimension."""
        if not self.bias:
            return y
        return y + tensors[self.bias].reshape(-1, *(1,) * (y.dim() - 2))

    def scaled(self, weight: Tensor, scale: Tensor | float) -> Tensor:
        """Return weights with a scale by output channel folded in."""
        if isinstance(scale, Tensor) and scale.dim():
            scale = scale.reshape(-1, *(1,) * (weight.dim() - 1))
        return weight * scale

    def bound(self, b: Bound, tensors: Tensors) -> Bound:
        absolute = {self.weight: tensors[self.weight].abs()}
        if self.bias:
            absolute[self.bias] = tensors[self.bias].abs()
        size = self.with_bias(self.products(b.size, absolute[self.weight]), absolute)
        return Bound(self.apply(b.value, tensors), size)


@dataclass(frozen=True)
class Linear(Producer):
    """``nn.Linear``, or a product with a transposed weight of ``torch.randn``.

    Attributes
    ----------
    features : str
        The dimension of outputs.
    weight, bias : str
    normal : bool
        Whether the weight is drawn by ``torch.randn`` and not as a module does.
    """

    features: str = "out_features"
    weight: str = "weight"
    bias: str = "bias"
    normal: bool = False

    def shape(self, shape: Shape, trace: Trace) -> Shape:
        return (*shape[:-1], self.features)

    def parameters(self, shape: Shape, trace: Trace) -> tuple[ParameterSpec, ...]:
        weight = ParameterSpec(self.weight, (self.features, shape[-1]), ParameterRole.WEIGHT)
        if not self.bias:
            return (weight,)
        return (weight, ParameterSpec(self.bias, (self.features,), ParameterRole.BIAS))

    def initialise(self, shapes: Mapping[str, tuple[int, ...]]) -> Tensors:
        if self.normal:
            return {self.weight: torch.randn(shapes[self.weight])}
        features, width = shapes[self.weight]
        return _drawn(nn.Linear(width, features, bias=bool(self.bias)), self)

    def terms(self, shape: Shape, trace: Trace) -> str:
        return shape[-1]

    def apply(self, h: Tensor, tensors: Tensors) -> Tensor:
        return functional.linear(
            h, tensors[self.weight], tensors[self.bias] if self.bias else None
        )

    def products(self, h: Tensor, weight: Tensor) -> Tensor:
        return h @ weight.t()

    def in_order(self, h: Tensor, tensors: Tensors, order: Order) -> Tensor:
        factors = {"h": h, "w": tensors[self.weight]}
        return self.with_bias(_PRODUCT.in_order(factors, order)["c"], tensors)

    def ways(self) -> tuple[tuple[str, str, Callable[[Tensor, Tensor], Tensor]], ...]:
        return (
            ("blocked-16", "tile", lambda h, w: _PRODUCT.in_blocks({"h": h, "w": w})["c"]),
            ("halves", "emulation", lambda h, w: _PRODUCT.by_halves({"h": h, "w": w})["c"]),
            ("split-4", "split_k", _split_linear),
        )


_PRODUCT = Product(lambda t: t["h"], lambda t: t["w"].t().contiguous())


def _split_linear(h: Tensor, weight: Tensor) -> Tensor:
    """Add the products of four interleaved quarters of the terms."""
    parts = [h[:, k::4] @ weight[:, k::4].t() for k in range(min(4, h.shape[1]))]
    return (parts[0] + parts[-1]) + sum(parts[2:-1], parts[1]) if len(parts) > 2 else sum(
        parts[1:], parts[0]
    )


@dataclass(frozen=True)
class Conv(Producer):
    """``nn.Conv2d`` or ``nn.Conv3d`` with one kernel size, stride and padding along all axes.

    Attributes
    ----------
    rank, kernel : int
    channels : str
        The dimension of output channels.
    stride, padding : int
    weight, bias : str
    """

    rank: int
    kernel: int
    channels: str = "out_channels"
    stride: int = 1
    padding: int = 0
    weight: str = "weight"
    bias: str = "bias"

    @property
    def convolution(self) -> Convolution:
        """The operation without its bias."""
        every = (self.rank,)
        return Convolution(
            (self.kernel,) * every[0], (self.stride,) * every[0], (self.padding,) * every[0]
        )

    def shape(self, shape: Shape, trace: Trace) -> Shape:
        for axis in shape[2:]:
            trace.derived[f"out_{axis}"] = (
                f"({axis} + {2 * self.padding} - {self.kernel}) // {self.stride} + 1"
            )
        return (shape[0], self.channels, *(f"out_{axis}" for axis in shape[2:]))

    def parameters(self, shape: Shape, trace: Trace) -> tuple[ParameterSpec, ...]:
        extents = (self.channels, shape[1], *(str(self.kernel),) * self.rank)
        weight = ParameterSpec(self.weight, extents, ParameterRole.WEIGHT)
        if not self.bias:
            return (weight,)
        return (weight, ParameterSpec(self.bias, (self.channels,), ParameterRole.BIAS))

    def initialise(self, shapes: Mapping[str, tuple[int, ...]]) -> Tensors:
        out_channels, in_channels = shapes[self.weight][:2]
        module = (nn.Conv2d, nn.Conv3d)[self.rank - 2]
        return _drawn(
            module(
                in_channels,
                out_channels,
                self.kernel,
                stride=self.stride,
                padding=self.padding,
                bias=bool(self.bias),
            ),
            self,
        )

    def terms(self, shape: Shape, trace: Trace) -> str:
        return f"{shape[1]} * {self.kernel**self.rank}"

    def apply(self, h: Tensor, tensors: Tensors) -> Tensor:
        convolve = (functional.conv2d, functional.conv3d)[self.rank - 2]
        bias = tensors[self.bias] if self.bias else None
        return convolve(h, tensors[self.weight], bias, self.stride, self.padding)

    def products(self, h: Tensor, weight: Tensor) -> Tensor:
        return self.convolution.apply(h, weight)

    def in_order(self, h: Tensor, tensors: Tensors, order: Order) -> Tensor:
        return self.with_bias(self.convolution.in_order(h, tensors[self.weight], order), tensors)

    def ways(self) -> tuple[tuple[str, str, Callable[[Tensor, Tensor], Tensor]], ...]:
        convolution = self.convolution
        found: list[tuple[str, str, Callable[[Tensor, Tensor], Tensor]]] = [
            ("unfold", "algorithm", convolution.by_unfolding),
            ("by-channel", "split_k", convolution.by_channels),
        ]
        if convolution.winograd_axis() is not None:
            found.append(("winograd", "winograd", convolution.winograd))
        return tuple(found)


@dataclass(frozen=True)
class ConvTranspose(Producer):
    """``nn.ConvTranspose2d`` or ``nn.ConvTranspose3d``, alike along all axes.

    Attributes
    ----------
    rank, kernel : int
    channels : str
        The dimension of output channels.
    stride, padding, output_padding : int
    weight, bias : str
    """

    rank: int
    kernel: int
    channels: str = "out_channels"
    stride: int = 1
    padding: int = 0
    output_padding: int = 0
    weight: str = "weight"
    bias: str = "bias"

    @property
    def operation(self) -> TransposedConvolution:
        """The operation without its bias; sizes are the tensors'."""
        axis = Axis("", 1, self.kernel, self.stride, self.padding, self.output_padding)
        return TransposedConvolution((axis,) * self.rank)

    def shape(self, shape: Shape, trace: Trace) -> Shape:
        for axis in shape[2:]:
            more = self.kernel + self.output_padding - 2 * self.padding
            trace.derived[f"out_{axis}"] = f"({axis} - 1) * {self.stride} + {more}"
        return (shape[0], self.channels, *(f"out_{axis}" for axis in shape[2:]))

    def parameters(self, shape: Shape, trace: Trace) -> tuple[ParameterSpec, ...]:
        extents = (shape[1], self.channels, *(str(self.kernel),) * self.rank)
        weight = ParameterSpec(self.weight, extents, ParameterRole.WEIGHT)
        if not self.bias:
            return (weight,)
        return (weight, ParameterSpec(self.bias, (self.channels,), ParameterRole.BIAS))

    def initialise(self, shapes: Mapping[str, tuple[int, ...]]) -> Tensors:
        in_channels, out_channels = shapes[self.weight][:2]
        module = (nn.ConvTranspose2d, nn.ConvTranspose3d)[self.rank - 2]
        return _drawn(
            module(
                in_channels,
                out_channels,
                self.kernel,
                stride=self.stride,
                padding=self.padding,
                output_padding=self.output_padding,
                bias=bool(self.bias),
            ),
            self,
        )

    def terms(self, shape: Shape, trace: Trace) -> str:
        taps = math.ceil(self.kernel / self.stride) ** self.rank
        return f"{shape[1]} * {taps}"

    def apply(self, h: Tensor, tensors: Tensors) -> Tensor:
        convolve = (functional.conv_transpose2d, functional.conv_transpose3d)[self.rank - 2]
        bias = tensors[self.bias] if self.bias else None
        return convolve(
            h, tensors[self.weight], bias, self.stride, self.padding, self.output_padding
        )

    def products(self, h: Tensor, weight: Tensor) -> Tensor:
        return self.operation.reference({"x": h, "weight": weight})["y"]

    def in_order(self, h: Tensor, tensors: Tensors, order: Order) -> Tensor:
        factors = {"x": h, "weight": tensors[self.weight]}
        return self.with_bias(self.operation.in_order(factors, order)["y"], tensors)

    def ways(self) -> tuple[tuple[str, str, Callable[[Tensor, Tensor], Tensor]], ...]:
        operation = self.operation
        return (
            ("zero-stuffed", "algorithm", _named(operation.by_stuffing)),
            ("folded", "col2im", _named(operation.by_folding)),
            ("by-channel", "split_k", _named(operation.by_channels)),
        )

    def scaled(self, weight: Tensor, scale: Tensor | float) -> Tensor:
        if isinstance(scale, Tensor) and scale.dim():
            scale = scale.reshape(1, -1, *(1,) * self.rank)
        return weight * scale


def _named(run: Callable[[Tensors], Tensors]) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda h, weight: run({"x": h, "weight": weight})["y"]


def _drawn(layer: nn.Module, names: Producer) -> Tensors:
    """Return what a layer's own constructor has drawn."""
    drawn = {
        {"weight": names.weight, "bias": names.bias}[name]: tensor.detach()
        for name, tensor in layer.named_parameters()
    }
    return drawn


def producers_of(stages: tuple[Stage, ...]) -> list[tuple[int, Producer]]:
    """Return the producers among stages with their places."""
    return [(at, stage) for at, stage in enumerate(stages) if isinstance(stage, Producer)]


def folded(producer: Producer, after: tuple[Stage, ...], tensors: Tensors) -> tuple[Tensors, int]:
    """Fold the scales and shifts right after a producer into its weight and bias.

    Returns
    -------
    tensors : mapping
        With another weight and bias.
    taken : int
        How many stages that makes superfluous.
    """
    maps = list(itertools.takewhile(bool, (stage.affine(tensors) for stage in after)))
    weight = tensors[producer.weight]
    bias: Tensor | float = tensors[producer.bias] if producer.bias else 0.0
    for found in maps:
        assert found is not None
        scale, shift = found
        weight, bias = producer.scaled(weight, scale), bias * scale + shift
    return {**tensors, producer.weight: weight, "": _tensor(bias, weight)}, len(maps)


def _tensor(bias: Tensor | float, weight: Tensor) -> Tensor:
    return bias if isinstance(bias, Tensor) else torch.tensor(bias).to(weight)
