"""Forward convolutions of one, two or three axes, computed in several ways.

A `Convolution` is what a layer of torch is made with, without channels and without a bias, which
no problem of the family has. Its methods are the reference and, for controls, other ways to the
same numbers: other orders, other groups of terms, another algorithm.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch.nn import functional

from gpu_eval.problems.orders import Order, Terms

MOST_PATCHES = 1 << 28
"""Elements of unfolded patches at a time: more images than that are taken one after another."""

MOST_PARTS = 4
"""Into how many groups of input channels a split sum goes."""

_LAYERS: tuple[type[torch.nn.Module], ...] = (torch.nn.Conv1d, torch.nn.Conv2d, torch.nn.Conv3d)
_FUNCTIONS: tuple[Callable[..., torch.Tensor], ...] = (
    functional.conv1d,
    functional.conv2d,
    functional.conv3d,
)


@dataclass(frozen=True)
class Convolution:
    """A convolution without bias over tensors of shape (batch, channels, axes...).

    Attributes
    ----------
    kernel : tuple of int
        One size for each spatial axis.
    stride, padding, dilation : tuple of int
        Alike; empty for 1, 0 and 1 everywhere.
    depthwise : bool
        Every output channel sees the input channel of its index alone.
    """

    kernel: tuple[int, ...]
    stride: tuple[int, ...] = ()
    padding: tuple[int, ...] = ()
    dilation: tuple[int, ...] = ()
    depthwise: bool = False

    def __post_init__(self) -> None:
        rank = len(self.kernel)
        for name, neutral in (("stride", 1), ("padding", 0), ("dilation", 1)):
            object.__setattr__(self, name, getattr(self, name) or (neutral,) * rank)

    @property
    def rank(self) -> int:
        """How many spatial axes there are."""
        return len(self.kernel)

    def apply(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        """Convolve with the library.

        Parameters
        ----------
        x : Tensor, shape (batch, in_channels, axes...)
        weight : Tensor, shape (out_channels, in_channels or 1, kernel...)
        """
        groups = x.shape[1] if self.depthwise else 1
        convolve = _FUNCTIONS[self.rank - 1]
        return convolve(x, weight, None, self.stride, self.padding, self.dilation, groups)

    def layer(self, shape: tuple[int, ...]) -> torch.Tensor:
        """Draw a weight of a shape as the benchmark's layer does, from torch's global generator."""
        out_channels, width = shape[:2]
        layer = _LAYERS[self.rank - 1](
            out_channels if self.depthwise else width,
            out_channels,
            shape[2:],
            stride=self.stride,
            padding=self.padding,
            dilation=self.dilation,
            groups=out_channels if self.depthwise else 1,
            bias=False,
        )
        weight: torch.Tensor = layer.weight.detach()  # type: ignore[operator]
        return weight

    def in_order(self, x: torch.Tensor, weight: torch.Tensor, order: Order) -> torch.Tensor:
        """Add the rounded products of one tap after another in a given order."""
        return torch.cat([self._summed(part, weight, order) for part in self._parts(x)])

    def by_unfolding(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        """Multiply the unfolded patches with the library's matrix product."""
        return torch.cat([self._multiplied(part, weight) for part in self._parts(x)])

    def by_channels(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        """Convolve groups of input channels with the library and add their results."""
        channels = x.shape[1]
        parts = min(channels, MOST_PARTS)
        edges = [channels * i // parts for i in range(parts + 1)]
        return _total(
            [self.apply(x[:, a:b], weight[:, a:b].contiguous()) for a, b in pairwise(edges)]
        )

    def by_taps(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        """Convolve with the slices of the kernel's longest axis, and add their results."""
        axis = max(range(self.rank), key=lambda a: self.kernel[a])
        padded = self._padded(x)
        rest = self._of_one_tap(axis)
        step, gap = self.stride[axis], self.dilation[axis]
        reach = gap * (self.kernel[axis] - 1) + 1
        outputs = (padded.shape[axis + 2] - reach) // step + 1
        parts = []
        for tap in range(self.kernel[axis]):
            seen = padded.narrow(axis + 2, tap * gap, (outputs - 1) * step + 1)
            parts.append(rest.apply(seen, weight.narrow(axis + 2, tap, 1)))
        return _total(parts)

    def winograd_axis(self) -> int | None:
        """Return the last axis that `winograd` can take, or None."""
        fitting = [
            a
            for a in range(self.rank)
            if (self.kernel[a], self.stride[a], self.dilation[a]) == (3, 1, 1)
        ]
        return fitting[-1] if fitting else None

    def winograd(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        """Compute pairs of outputs along one axis from four products, not six: F(2, 3).

        The transforms of Winograd's minimal filtering (Lavin and Gray, Fast Algorithms for
        Convolutional Neural Networks, CVPR 2016, section 4.1); the other axes go directly.
        """
        axis = self.winograd_axis()
        assert axis is not None
        dim = axis + 2
        padded = self._padded(x)
        outputs = padded.shape[dim] - 2
        # An odd number of outputs takes one more column, of zeros, whose output is cut off.
        padded = functional.pad(padded, (0, 0) * (self.rank - 1 - axis) + (0, outputs % 2))
        d0, d1, d2, d3 = padded.unfold(dim, 4, 2).unbind(-1)
        g0, g1, g2 = torch.split(weight, 1, dim)
        rest = self._of_one_tap(axis)
        m0 = rest.apply(d0 - d2, g0)
        m1 = rest.apply(d1 + d2, (g0 + g1 + g2) * 0.5)
        m2 = rest.apply(d2 - d1, (g0 - g1 + g2) * 0.5)
        m3 = rest.apply(d1 - d3, g2)
        both = torch.stack((m0 + m1 + m2, m1 - m2 - m3), dim + 1)
        return both.flatten(dim, dim + 1).narrow(dim, 0, outputs).contiguous()

    def _parts(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        patches = x[0].numel() * math.prod(self.kernel)
        return torch.split(x, max(1, MOST_PATCHES // max(1, patches)))

    def _padded(self, x: torch.Tensor) -> torch.Tensor:
        both = [size for padding in reversed(self.padding) for size in (padding, padding)]
        return functional.pad(x, both)

    def _of_one_tap(self, axis: int) -> "Convolution":
        """Return the convolution with one tap along an axis, of an input padded already."""
        kernel = tuple(1 if a == axis else size for a, size in enumerate(self.kernel))
        return Convolution(kernel, self.stride, (), self.dilation, self.depthwise)

    def _windows(self, x: torch.Tensor) -> torch.Tensor:
        """Return a view of shape (batch, channels, kernel..., outputs...)."""
        view = self._padded(x)
        for axis, (size, step, gap) in enumerate(
            zip(self.kernel, self.stride, self.dilation, strict=True)
        ):
            view = view.unfold(axis + 2, gap * (size - 1) + 1, step)[..., ::gap]
        outputs, taps = range(2, 2 + self.rank), range(2 + self.rank, 2 + 2 * self.rank)
        return view.permute(0, 1, *taps, *outputs)

    def _summed(self, x: torch.Tensor, weight: torch.Tensor, order: Order) -> torch.Tensor:
        windows = self._windows(x)
        batch, channels = windows.shape[:2]
        outputs = windows.shape[2 + self.rank :]
        factors = weight.flatten(1).t()
        if self.depthwise:
            rows = windows.flatten(2, 1 + self.rank).movedim(2, 0)
            products = rows * factors.reshape(-1, 1, channels, *(1 for _ in outputs))
            return order(Terms(products), len(products))
        rows = windows.flatten(1, 1 + self.rank).transpose(0, 1).reshape(len(factors), 1, -1)
        total = order(Terms(factors[:, :, None], rows), len(rows))
        return total.reshape(-1, batch, *outputs).transpose(0, 1).contiguous()

    def _multiplied(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        windows = self._windows(x)
        batch = windows.shape[0]
        outputs = windows.shape[2 + self.rank :]
        if self.depthwise:
            patches = windows.flatten(2, 1 + self.rank).flatten(3)
            return (weight.flatten(2) @ patches).reshape(batch, -1, *outputs)
        patches = windows.flatten(1, 1 + self.rank).flatten(2)
        return (weight.flatten(1) @ patches).reshape(batch, -1, *outputs)


def _total(parts: list[torch.Tensor]) -> torch.Tensor:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
