"""Stages of fused problems that look at more than one element: reductions, norms, pooling."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from gpu_eval.problems.definition import ParameterRole, ParameterSpec, Tensors
from gpu_eval.problems.families.fused_stages import Bound, Shape, Stage, Trace
from gpu_eval.problems.families.pooling import Window
from gpu_eval.problems.orders import Order, Terms, running_moments


def _product(sizes: Shape) -> str:
    return " * ".join(size if size.isidentifier() else f"({size})" for size in sizes) or "1"


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
        return "" if set(lengths) == {"1"} else _product(lengths)

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
        match self.operation:
            case "sum" | "mean":
                return Bound(value, self.apply(b.size, tensors))
            case "max" | "min":
                return Bound(value, torch.amax(b.size, self.axes, self.keep), b.low, b.high)
        share = torch.softmax(_front(b.value, self.axes)[0], dim=0)
        carried = (share * _front(b.size, self.axes)[0]).sum(0).reshape(value.shape)
        return Bound(value, carried + value.abs() + 1)

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
        if math.prod(b.value.shape[axis] for axis in self.axes) == 1:
            # The mean of one number is that number, and their difference 0, however it is computed.
            return Bound(value, torch.zeros_like(value), 0.0, 0.0)
        return Bound(value, b.size + b.size.mean(self.axes, keepdim=True))


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
        return Bound(value, value * (carried + below + 1))


@dataclass(frozen=True)
class Normalise(Stage):
    """Subtract means, divide by standard deviations (biased), then perhaps an affine map.

    Attributes
    ----------
    over : str
        ``batch`` (training mode: statistics of the batch), ``instance``, ``last`` (LayerNorm over
        the last dimension), ``row`` (all but the first), or ``group``.
    groups, width : int
        Of ``group``: how many groups of channels, or how many channels in each; the other is 0.
    affine_map : bool
        Whether there are ``norm_weight`` and ``norm_bias``.
    eps : float
    prefix : str
        Of the parameters' names.
    """

    over: str
    groups: int = 0
    width: int = 0
    affine_map: bool = True
    eps: float = 1e-5
    prefix: str = "norm"
    sums = True

    def parameters(self, shape: Shape, trace: Trace) -> tuple[ParameterSpec, ...]:
        if not self.affine_map:
            return ()
        extents = (shape[-1] if self.over == "last" else shape[1],)
        return (
            ParameterSpec(f"{self.prefix}_weight", extents, ParameterRole.SCALE),
            ParameterSpec(f"{self.prefix}_bias", extents, ParameterRole.SHIFT),
        )

    def initialise(self, shapes: Mapping[str, tuple[int, ...]]) -> Tensors:
        if not self.affine_map:
            return {}
        weight, bias = f"{self.prefix}_weight", f"{self.prefix}_bias"
        return {weight: torch.ones(shapes[weight]), bias: torch.zeros(shapes[bias])}

    def terms(self, shape: Shape, trace: Trace) -> str:
        match self.over:
            case "batch":
                return _product((shape[0], *shape[2:]))
            case "instance":
                return _product(shape[2:])
            case "last":
                return shape[-1]
            case "row":
                return _product(shape[1:])
        channels = str(self.width) if self.width else f"{shape[1]} // {self.groups}"
        return _product((channels, *shape[2:]))

    def apply(self, h: Tensor, tensors: Tensors) -> Tensor:
        weight = tensors[f"{self.prefix}_weight"] if self.affine_map else None
        bias = tensors[f"{self.prefix}_bias"] if self.affine_map else None
        match self.over:
            case "batch":
                return functional.batch_norm(h, None, None, weight, bias, True, eps=self.eps)
            case "instance":
                return functional.instance_norm(h, weight=weight, bias=bias, eps=self.eps)
            case "last":
                return functional.layer_norm(h, h.shape[-1:], weight, bias, self.eps)
            case "row":
                return functional.layer_norm(h, h.shape[1:], None, None, self.eps)
        return functional.group_norm(h, self._groups(h), weight, bias, self.eps)

    def in_order(self, h: Tensor, tensors: Tensors, order: Order) -> Tensor:
        rows = self._rows(h)
        count = rows.shape[1]
        mean = (order(Terms(rows.t()), count) / count)[:, None]
        squares = (rows - mean).square()
        variance = (order(Terms(squares.t()), count) / count)[:, None]
        return self._mapped(
            self._back((rows - mean) / torch.sqrt(variance + self.eps), h), tensors
        )

    def otherwise(self, h: Tensor, tensors: Tensors) -> Tensor:
        """Take the moments by Welford's updates."""
        rows = self._rows(h)
        mean, m2 = running_moments(rows)
        inverse = torch.rsqrt(m2 / rows.shape[1] + self.eps)
        return self._mapped(self._back((rows - mean[:, None]) * inverse[:, None], h), tensors)

    def bound(self, b: Bound, tensors: Tensors) -> Bound:
        rows, size = self._rows(b.value), self._rows(b.size)
        mean = rows.mean(1, keepdim=True)
        inverse = torch.rsqrt(rows.var(1, correction=0, keepdim=True) + self.eps)
        y = (rows - mean) * inverse
        # First-order change of a standardised element: its own, the mean's, the deviation's.
        carried = (size + size.mean(1, keepdim=True)) * inverse
        carried = carried + y.abs() * ((y.abs() * size).mean(1, keepdim=True) * inverse)
        terms = (rows.abs() + mean.abs()) * inverse + y.abs()
        absolute = {name: tensor.abs() for name, tensor in tensors.items()}
        return Bound(
            self._mapped(self._back(y, b.value), tensors),
            self._mapped(self._back(carried + terms, b.value), absolute),
        )

    def _groups(self, h: Tensor) -> int:
        return self.groups or h.shape[1] // self.width

    def _rows(self, h: Tensor) -> Tensor:
        """Return a row for each set of statistics."""
        match self.over:
            case "batch":
                return h.transpose(0, 1).reshape(h.shape[1], -1)
            case "instance":
                return h.reshape(h.shape[0] * h.shape[1], -1)
            case "last":
                return h.reshape(-1, h.shape[-1])
            case "row":
                return h.reshape(h.shape[0], -1)
        return h.reshape(h.shape[0] * self._groups(h), -1)

    def _back(self, rows: Tensor, h: Tensor) -> Tensor:
        if self.over == "batch":
            return rows.reshape(h.shape[1], h.shape[0], *h.shape[2:]).transpose(0, 1).contiguous()
        return rows.reshape(h.shape)

    def _mapped(self, y: Tensor, tensors: Tensors) -> Tensor:
        if not self.affine_map:
            return y
        weight, bias = tensors[f"{self.prefix}_weight"], tensors[f"{self.prefix}_bias"]
        if self.over != "last":
            shape = (-1, *(1,) * (y.dim() - 2))
            weight, bias = weight.reshape(shape), bias.reshape(shape)
        return y * weight + bias


_MAX = {1: functional.max_pool1d, 2: functional.max_pool2d, 3: functional.max_pool3d}
_AVERAGE = {1: functional.avg_pool1d, 2: functional.avg_pool2d, 3: functional.avg_pool3d}


@dataclass(frozen=True)
class Pool(Stage):
    """Max or average pooling with windows of one size along all of the last axes.

    Attributes
    ----------
    operation : str
        ``max`` or ``mean``.
    rank : int
        Axes of an image; 1: the last one of a matrix, which the benchmark unsqueezes first.
    kernel, stride, padding : int
        Stride 0: the kernel's.
    prefix : str
        Derived sizes are called ``<prefix>_<axis>``; one stage needs other words than the next.
    """

    operation: str
    rank: int
    kernel: int
    stride: int = 0
    padding: int = 0
    prefix: str = "pool"

    def __post_init__(self) -> None:
        object.__setattr__(self, "exact", self.operation == "max")
        object.__setattr__(self, "sums", self.operation == "mean")

    @property
    def window(self) -> Window:
        """The window."""
        return Window(self.rank, self.kernel, self.stride or self.kernel, self.padding)

    def shape(self, shape: Shape, trace: Trace) -> Shape:
        pooled = []
        for size in shape[-self.rank :]:
            name = f"{self.prefix}_{size.rpartition('_')[2]}"
            around = f"{size} + {2 * self.padding} - {self.kernel}"
            trace.derived[name] = f"({around}) // {self.stride or self.kernel} + 1"
            pooled.append(name)
        return (*shape[: -self.rank], *pooled)

    def terms(self, shape: Shape, trace: Trace) -> str:
        return str(self.kernel**self.rank) if self.sums else ""

    def apply(self, h: Tensor, tensors: Tensors) -> Tensor:
        image = h.unsqueeze(1) if self.rank == 1 else h
        pool = _MAX if self.operation == "max" else _AVERAGE
        y: Tensor = pool[self.rank](image, self.kernel, self.stride or self.kernel, self.padding)
        return y.squeeze(1) if self.rank == 1 else y

    def in_order(self, h: Tensor, tensors: Tensors, order: Order) -> Tensor:
        if self.operation == "max":
            return self.apply(h, tensors)
        window = self.window
        taps = torch.stack(window.taps(window.padded(h, 0.0)))
        return order(Terms(taps), window.size) / window.size

    def otherwise(self, h: Tensor, tensors: Tensors) -> Tensor:
        window = self.window
        if self.operation == "max":
            return window.unfolded(window.padded(h, float("-inf"))).amax(dim=0)
        return window.unfolded(window.padded(h, 0.0)).sum(dim=0) * (1 / window.size)

    def bound(self, b: Bound, tensors: Tensors) -> Bound:
        return Bound(self.apply(b.value, tensors), self.apply(b.size, tensors), b.low, b.high)


def global_average(rank: int) -> Reduce:
    """Return the adaptive average pooling of images to one element, kept."""
    return Reduce("mean", tuple(range(2, 2 + rank)))
