"""Stages of fused problems that look at more than one element: reductions and softmax."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from gpu_eval.problems.definition import Tensors
from gpu_eval.problems.families.fused_stages import Bound, Shape, Stage, Trace, product_of
from gpu_eval.problems.orders import Order, Terms


def _front(h: Tensor, axes: tuple[int, ...]) -> tuple[Tensor, list[int]]:
    """Return (terms, others...) with the axes flattened in front, and the shape kept to."""
    positive = sorted(axis % h.dim() for axis in axes)
    kept = [1 if a in positive else n for a, n in enumerate(h.shape)]
    moved = h.movedim(positive, list(range(len(positive))))
    return moved.flatten(0, len(positive) - 1).contiguous(), kept


def _sum(h: Tensor, axes: tuple[int, ...], order: Order) -> Tensor:
    """Return sums over axes in an order, the axes kept with length 1."""
    rows, kept = _front(h, axes)
    return order(Terms(rows), rows.shape[0]).reshape(kept)


@dataclass(frozen=True)
class Reduce(Stage):
    """Sum, mean, max, min or logsumexp over axes.

    Attributes
    ----------
    operation : str
        ``sum``, ``mean``, ``max``, ``min`` or ``logsumexp``.
    axes : tuple of int
    keep : bool
        Whether axes stay, with length 1.
    """

    operation: str
    axes: tuple[int, ...] = (1,)
    keep: bool = True

    def __post_init__(self) -> None:
        extreme = self.operation in ("max", "min")
        object.__setattr__(self, "exact", extreme)
        object.__setattr__(self, "sums", not extreme)

    def shape(self, shape: Shape, trace: Trace) -> Shape:
        axes = {axis % len(shape) for axis in self.axes}
        if self.keep:
            return tuple("1" if a in axes else n for a, n in enumerate(shape))
        return tuple(n for a, n in enumerate(shape) if a not in axes)

    def terms(self, shape: Shape, trace: Trace) -> str:
        if not self.sums:
            return ""
        lengths = tuple(shape[axis % len(shape)] for axis in self.axes)
        return "" if set(lengths) == {"1"} else product_of(lengths)

    def apply(self, h: Tensor, tensors: Tensors) -> Tensor:
        match self.operation:
            case "sum":
                return torch.sum(h, self.axes, self.keep)
            case "mean":
                return torch.mean(h, self.axes, self.keep)
            case "max":
                return torch.amax(h, self.axes, self.keep)
            case "min":
                return torch.amin(h, self.axes, self.keep)
        return torch.logsumexp(h, self.axes, self.keep)

    def in_order(self, h: Tensor, tensors: Tensors, order: Order) -> Tensor:
        match self.operation:
            case "sum":
                return self._shaped(_sum(h, self.axes, order), h)
            case "mean":
                rows, _ = _front(h, self.axes)
                return self._shaped(_sum(h, self.axes, order) / rows.shape[0], h)
            case "logsumexp":
                top = h.amax(self.axes, keepdim=True)
                total = _sum(torch.exp(h - top), self.axes, order)
                return self._shaped(top + torch.log(total), h)
        return self.apply(h, tensors)

    def otherwise(self, h: Tensor, tensors: Tensors) -> Tensor:
        rows, kept = _front(h, self.axes)
        count = rows.shape[0]
        match self.operation:
            case "sum" | "mean":
                share = 1.0 if self.operation == "sum" else 1.0 / count
                weights = torch.full_like(rows.reshape(count, -1)[:, 0], share)
                return self._shaped((weights @ rows.reshape(count, -1)).reshape(kept), h)
            case "logsumexp" if count > 1:
                first, second = torch.logsumexp(rows[::2], 0), torch.logsumexp(rows[1::2], 0)
                return self._shaped(torch.logaddexp(first, second).reshape(kept), h)
            case "min":
                return -self._extreme(-h)
        return self.apply(h, tensors)

    def bound(self, b: Bound, tensors: Tensors) -> Bound:
        value = self.apply(b.value, tensors)
        count = math.prod(b.value.shape[axis] for axis in self.axes)
        match self.operation:
            case "sum" | "mean":
                own = math.sqrt(count) * self.apply(b.value.abs(), tensors)
                size = self.apply(b.size, tensors)
                # One number is its own sum.
                return (
                    b.onward(value, size + own, terms=count) if count > 1 else b.onward(value, size)
                )
            case "max" | "min":
                largest = torch.amax(b.size, self.axes, self.keep)
                return b.onward(value, largest, low=b.low, high=b.high)
        share = torch.softmax(_front(b.value, self.axes)[0], dim=0)
        carried = (share * _front(b.size, self.axes)[0]).sum(0).reshape(value.shape)
        if count == 1:
            return b.onward(value, carried + value.abs())
        return b.onward(value, carried + value.abs() + math.sqrt(count), terms=count)

    def _extreme(self, h: Tensor) -> Tensor:
        return torch.amax(h, self.axes, self.keep)

    def _shaped(self, kept: Tensor, h: Tensor) -> Tensor:
        if self.keep:
            return kept
        return kept.squeeze(tuple(axis % h.dim() for axis in self.axes))


@dataclass(frozen=True)
class SubtractMean(Stage):
    """Subtract the mean over axes, kept."""

    axes: tuple[int, ...]
    sums = True

    def terms(self, shape: Shape, trace: Trace) -> str:
        return Reduce("mean", self.axes).terms(shape, trace)

    def apply(self, h: Tensor, tensors: Tensors) -> Tensor:
        return h - h.mean(self.axes, keepdim=True)

    def in_order(self, h: Tensor, tensors: Tensors, order: Order) -> Tensor:
        return h - Reduce("mean", self.axes).in_order(h, tensors, order)

    def otherwise(self, h: Tensor, tensors: Tensors) -> Tensor:
        return h - Reduce("mean", self.axes).otherwise(h, tensors)

    def bound(self, b: Bound, tensors: Tensors) -> Bound:
        value = self.apply(b.value, tensors)
        count = math.prod(b.value.shape[axis] for axis in self.axes)
        if count == 1:
            # The mean of one number is that number, and their difference 0, however it is computed.
            return b.onward(value, torch.zeros_like(value), low=0.0, high=0.0)
        carried = b.size + b.size.mean(self.axes, keepdim=True)
        own = math.sqrt(count) * b.value.abs().mean(self.axes, keepdim=True) + value.abs()
        return b.onward(value, carried + own, terms=count)


@dataclass(frozen=True)
class Softmax(Stage):
    """Softmax over axes taken together."""

    axes: tuple[int, ...] = (1,)
    sums = True

    def terms(self, shape: Shape, trace: Trace) -> str:
        return Reduce("sum", self.axes).terms(shape, trace)

    def apply(self, h: Tensor, tensors: Tensors) -> Tensor:
        if len(self.axes) == 1:
            return torch.softmax(h, self.axes[0])
        first = min(axis % h.dim() for axis in self.axes)
        return torch.softmax(h.flatten(first), first).reshape(h.shape)

    def in_order(self, h: Tensor, tensors: Tensors, order: Order) -> Tensor:
        e = torch.exp(h - h.amax(self.axes, keepdim=True))
        return e / _sum(e, self.axes, order)

    def otherwise(self, h: Tensor, tensors: Tensors) -> Tensor:
        shifted = h - h.amax(self.axes, keepdim=True)
        return torch.exp(shifted) * torch.exp(shifted).sum(self.axes, keepdim=True).reciprocal()

    def bound(self, b: Bound, tensors: Tensors) -> Bound:
        value = self.apply(b.value, tensors)
        carried = b.size + (value * b.size).sum(self.axes, keepdim=True)
        # The difference to the largest is rounded before it is raised.
        below = b.value.amax(self.axes, keepdim=True) - b.value
        count = math.prod(b.value.shape[axis] for axis in self.axes)
        own = below + math.sqrt(count)
        return b.onward(value, value * (carried + own), terms=count)


def global_average(rank: int) -> Reduce:
    """Return the adaptive average pooling of images to one element, kept."""
    return Reduce("mean", tuple(range(2, 2 + rank)))
