"""Producers of fused problems that convolve, transposed or not."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn import functional

from gpu_eval.problems.definition import ParameterSpec, Tensors
from gpu_eval.problems.families.convolution import Convolution
from gpu_eval.problems.families.convolution_transposed import Axis, TransposedConvolution
from gpu_eval.problems.families.fused_producers import Producer, drawn_by
from gpu_eval.problems.families.fused_stages import Shape, Trace
from gpu_eval.problems.orders import Order


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
        return Convolution(
            (self.kernel,) * self.rank, (self.stride,) * self.rank, (self.padding,) * self.rank
        )

    def shape(self, shape: Shape, trace: Trace) -> Shape:
        for axis in shape[2:]:
            trace.derived[f"out_{axis}"] = (
                f"({axis} + {2 * self.padding} - {self.kernel}) // {self.stride} + 1"
            )
        return (shape[0], self.channels, *(f"out_{axis}" for axis in shape[2:]))

    def parameters(self, shape: Shape, trace: Trace) -> tuple[ParameterSpec, ...]:
        extents = (self.channels, shape[1], *(str(self.kernel),) * self.rank)
        return self.described(extents, self.channels)

    def initialise(self, shapes: Mapping[str, tuple[int, ...]]) -> Tensors:
        out_channels, in_channels = shapes[self.weight][:2]
        module = (nn.Conv2d, nn.Conv3d)[self.rank - 2]
        return drawn_by(
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
        return self.described(extents, self.channels)

    def initialise(self, shapes: Mapping[str, tuple[int, ...]]) -> Tensors:
        in_channels, out_channels = shapes[self.weight][:2]
        module = (nn.ConvTranspose2d, nn.ConvTranspose3d)[self.rank - 2]
        return drawn_by(
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

    @property
    def taps(self) -> int:
        """How many places of the kernel an output sees, at most."""
        taps: int = math.ceil(self.kernel / self.stride) ** self.rank
        return taps

    def terms(self, shape: Shape, trace: Trace) -> str:
        return f"{shape[1]} * {self.taps}"

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

    def count(self, weight: Tensor) -> int:
        return weight.shape[0] * self.taps

    def scaled(self, weight: Tensor, scale: Tensor | float) -> Tensor:
        if isinstance(scale, Tensor) and scale.dim():
            scale = scale.reshape(1, -1, *(1,) * self.rank)
        return weight * scale


def _named(run: Callable[[Tensors], Tensors]) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda h, weight: run({"x": h, "weight": weight})["y"]
