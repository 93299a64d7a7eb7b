"""Transposed convolutions in one to three dimensions: reference and torch controls.

A transposed convolution adds, for every input element i and tap k along each axis, the product of
both to the output element ``i * stride - padding + k * dilation``.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from gpu_eval.problems.definition import Control, Substrate, Tensors
from gpu_eval.problems.orders import Order, Term, Terms, ordered_controls

if TYPE_CHECKING:
    from torch import Tensor

_MOST_WINDOWS = 1 << 28
"""Elements of windows that controls hold at a time: 1 GiB."""


@dataclass(frozen=True, slots=True)
class Axis:
    """One spatial axis of the contract.

    Attributes
    ----------
    name : str
        Of the input's dimension; the output's is ``out_<name>``, the kernel's ``kernel_<name>``.
    size, kernel : int
    stride, padding, output_padding, dilation : int
    tile, minimum : int
        See `Dimension`: of the *input's* extent; such that the tiles of outputs keep their tails.
    """

    name: str
    size: int
    kernel: int
    stride: int = 1
    padding: int = 0
    output_padding: int = 0
    dilation: int = 1
    tile: int = 1
    minimum: int = 1

    @property
    def reach(self) -> int:
        """Distance from the first tap's output to the last one's."""
        return self.dilation * (self.kernel - 1)

    def output(self, extent: int) -> int:
        """Return the output's extent for an input's."""
        spread = (extent - 1) * self.stride + self.reach + 1
        return spread - 2 * self.padding + self.output_padding

    def taps_of(self, phase: int) -> list[int]:
        """Return the taps that can hit the outputs of one residue modulo the stride."""
        away = phase + self.padding
        return [k for k in range(self.kernel) if (away - k * self.dilation) % self.stride == 0]

    def taps_of_an_output(self) -> str:
        """Return an expression for how many taps meet in one output at most.

        Taps that do share a residue of ``k * dilation`` modulo the stride.
        """
        period = self.stride // math.gcd(self.stride, self.dilation)
        kernel = f"kernel_{self.name}"
        return kernel if period == 1 else f"ceil_div({kernel}, {period})"


@dataclass(frozen=True, slots=True)
class TransposedConvolution:
    """The operation: axes from the outermost to the innermost, and groups of channels."""

    axes: tuple[Axis, ...]
    groups: int = 1

    def reference(self, tensors: Tensors) -> Tensors:
        """Compute what the benchmark's model computes."""
        return {"y": self._library(tensors["x"], tensors["weight"])}

    def magnitude(self, tensors: Tensors) -> Tensors:
        """Sum the absolute products."""
        return self.reference({name: tensor.abs() for name, tensor in tensors.items()})

    def initialise(self, shapes: Mapping[str, tuple[int, ...]]) -> Tensors:
        """Draw the weight as the module does: its own constructor does the drawing."""
        from torch import nn

        in_channels, out_per_group, *kernel = shapes["weight"]
        layer = getattr(nn, f"ConvTranspose{len(self.axes)}d")(
            in_channels, out_per_group * self.groups, kernel, groups=self.groups, bias=False
        )
        return {"weight": layer.weight.detach()}

    def in_order(self, tensors: Tensors, order: Order) -> Tensors:
        """Add the rounded products of an output, channel by channel and tap by tap, in an order.

        Outputs of one residue modulo the stride along each axis have the same taps; those that no
        tap hits are zero.
        """
        x, weight = tensors["x"], tensors["weight"]
        extents = [a.output(n) for a, n in zip(self.axes, x.shape[2:], strict=True)]
        y = x.new_zeros(x.shape[0], weight.shape[1] * self.groups, *extents)
        for phases in product(*(range(a.stride) for a in self.axes)):
            own = _inner(slice(p, None, a.stride) for a, p in zip(self.axes, phases, strict=True))
            taps = list(product(*(a.taps_of(p) for a, p in zip(self.axes, phases, strict=True))))
            if not taps or not y[own].numel():
                continue
            most = max(_MOST_WINDOWS // (y[own][0, 0].numel() * x.shape[1] * len(taps)), 1)
            for first in range(0, x.shape[0], most):
                outputs = y[own][first : first + most]
                windows = self._windows(x[first : first + most], taps, phases, outputs.shape[2:])
                outputs.copy_(self._summed(windows, weight, taps, order).view_as(outputs))
        return {"y": y}

    def by_stuffing(self, tensors: Tensors) -> Tensors:
        """Put zeros between the inputs and convolve with the library, weights mirrored."""
        import torch

        x, weight = tensors["x"], tensors["weight"]
        convolve = getattr(torch, f"conv{len(self.axes)}d")
        mirrored = weight.flip(tuple(range(2, weight.ndim)))
        per_group = [w.transpose(0, 1) for w in mirrored.chunk(self.groups)]
        dilation = [a.dilation for a in self.axes]
        kernel = torch.cat(per_group).contiguous()
        return {"y": convolve(self._stuffed(x), kernel, None, 1, 0, dilation, self.groups)}

    def by_folding(self, tensors: Tensors) -> Tensors:
        """Multiply weights and inputs with the library, then add the columns tap by tap."""
        import torch

        x, weight = tensors["x"], tensors["weight"]
        batch, _, *extents = x.shape
        left = weight.reshape(self.groups, -1, weight[0].numel()).transpose(1, 2)
        right = x.reshape(batch, self.groups, left.shape[2], -1)
        columns = (left @ right).reshape(batch, -1, weight[0, 0].numel(), *extents)
        whole = [
            max((n - 1) * a.stride + a.reach + 1, a.padding + a.output(n))
            for a, n in zip(self.axes, extents, strict=True)
        ]
        image = torch.zeros(*columns.shape[:2], *whole, dtype=x.dtype, device=x.device)
        for index, taps in enumerate(product(*(range(a.kernel) for a in self.axes))):
            hit = _inner(
                slice(k * a.dilation, k * a.dilation + (n - 1) * a.stride + 1, a.stride)
                for a, k, n in zip(self.axes, taps, extents, strict=True)
            )
            image[hit] += columns[:, :, index]
        inside = _inner(
            slice(a.padding, a.padding + a.output(n))
            for a, n in zip(self.axes, extents, strict=True)
        )
        return {"y": image[inside].contiguous()}

    def by_channels(self, tensors: Tensors) -> Tensors:
        """Convolve with the input channels of a group one by one, by the library, and add."""
        x, weight = tensors["x"], tensors["weight"]
        per_group = x.shape[1] // self.groups
        y = self._library(x[:, ::per_group], weight[::per_group])
        for c in range(1, per_group):
            y = y + self._library(x[:, c::per_group], weight[c::per_group])
        return {"y": y}

    def controls(self, plain: Substrate, *further: Control) -> tuple[Control, ...]:
        """Return a problem's controls; ``plain`` is the substrate that runs with FMA off."""
        return (
            *ordered_controls(self.in_order),
            Control("zero-stuffed", "algorithm", run=self.by_stuffing),
            Control("folded", "col2im", run=self.by_folding),
            Control("by-channel", "split_k", run=self.by_channels),
            Control("fma-off", "fma_off", substrate=plain, flags=("-ffp-contract=off",)),
            *further,
            Control("eager", "eager", run=self.reference, identical=True),
        )

    def _library(self, x: "Tensor", weight: "Tensor") -> "Tensor":
        from torch.nn import functional

        result: Tensor = getattr(functional, f"conv_transpose{len(self.axes)}d")(
            x,
            weight,
            None,
            tuple(a.stride for a in self.axes),
            tuple(a.padding for a in self.axes),
            tuple(a.output_padding for a in self.axes),
            self.groups,
            tuple(a.dilation for a in self.axes),
        )
        return result

    def _stuffed(self, x: "Tensor") -> "Tensor":
        """Return the inputs ``stride`` apart with the margins that every output's taps need."""
        from torch.nn import functional

        extents = x.shape[-len(self.axes) :]
        spread = [(n - 1) * a.stride + 1 for a, n in zip(self.axes, extents, strict=True)]
        stuffed = x.new_zeros(*x.shape[: -len(self.axes)], *spread)
        stuffed[_inner(slice(None, None, a.stride) for a in self.axes)] = x
        margins = [
            margin
            for a in reversed(self.axes)
            for margin in (a.reach - a.padding, a.reach - a.padding + a.output_padding)
        ]
        return functional.pad(stuffed, margins)

    def _windows(
        self,
        x: "Tensor",
        taps: Sequence[tuple[int, ...]],
        phases: Sequence[int],
        extents: Sequence[int],
    ) -> "Tensor":
        """Return (batch, channels, taps, outputs): what taps multiply for outputs of a phase."""
        import torch

        stuffed = self._stuffed(x)
        windows = []
        for tap in taps:
            seen: list[slice] = []
            for a, k, phase, n in zip(self.axes, tap, phases, extents, strict=True):
                start = phase + a.reach - k * a.dilation
                seen.append(slice(start, start + (n - 1) * a.stride + 1, a.stride))
            windows.append(stuffed[_inner(seen)].flatten(2))
        return torch.stack(windows, dim=2)

    def _summed(
        self, windows: "Tensor", weight: "Tensor", taps: Sequence[tuple[int, ...]], order: Order
    ) -> "Tensor":
        """Return (batch, out_channels, outputs)."""
        import torch

        chosen = torch.stack([weight[_inner(tap)] for tap in taps], dim=1)
        # One term an input channel of a group and tap: (terms, groups, out_channels, 1) ...
        factors = chosen.reshape(self.groups, -1, *chosen.shape[1:]).permute(1, 2, 0, 3)
        factors = factors.flatten(0, 1).unsqueeze(-1)
        # ... and (terms, groups, 1, batch * outputs).
        rows = windows.reshape(windows.shape[0], self.groups, -1, *windows.shape[2:])
        rows = rows.permute(2, 3, 1, 0, 4)
        rows = rows.flatten(0, 1).flatten(2).unsqueeze(2)
        sums = order(_products(factors, rows), rows.shape[0])
        return sums.reshape(-1, windows.shape[0], windows.shape[3]).transpose(0, 1).contiguous()


def _inner(indices: Iterable[int | slice]) -> tuple[Any, ...]:
    """Return an index of the innermost dimensions."""
    return (..., *indices)


def _products(factors: "Tensor", rows: "Tensor") -> Term:
    """Return the terms ``factors[k] * rows[k]``; of one group they are outer products."""
    if factors.shape[1] == 1:
        return Terms(factors[:, 0], rows[:, 0])
    lefts, rights = factors.unbind(0), rows.unbind(0)
    return lambda k: lefts[k] * rights[k]
