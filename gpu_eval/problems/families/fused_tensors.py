"""Stages of fused problems that meet another tensor: a parameter, an input, a random mask."""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from gpu_eval.problems.definition import ParameterRole, ParameterSpec, Tensors
from gpu_eval.problems.families.fused_stages import Bound, Shape, Stage, Trace
from gpu_eval.problems.orders import Order


def broadcast(left: Shape, right: Shape) -> Shape:
    """Return the shape of an element-wise operation, as torch aligns and stretches them."""
    pairs = itertools.zip_longest(reversed(left), reversed(right), fillvalue="1")
    return tuple(b if a == "1" else a for a, b in pairs)[::-1]


_COMBINE: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "+": torch.add,
    "-": torch.sub,
    "*": torch.mul,
}


def _combined(operation: str, a: Bound, value: Tensor, size: Tensor) -> Bound:
    result = _COMBINE[operation](a.value, value)
    if operation == "*":
        return a.onward(result, a.size * value.abs() + a.value.abs() * size + result.abs())
    return a.onward(result, a.size + size + value.abs() + result.abs())


@dataclass(frozen=True)
class WithParameter(Stage):
    """Add, subtract or multiply by a learned tensor of the benchmark's model.

    Attributes
    ----------
    operation : str
        ``+``, ``-`` or ``*``.
    name : str
        The parameter's.
    extents : tuple of str
        Its shape as the benchmark has it: ``("out_channels", "1", "1")``, ``()``.
    start : float or None
        What all of it begins at; None: ``torch.randn``.
    axis : int or None
        A vector's axis in what it is combined with, where that is not the last one.
    brought : bool
        False where an earlier stage has brought the parameter already.
    """

    operation: str
    name: str
    extents: Shape
    start: float | None = None
    axis: int | None = None
    brought: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "exact", self.operation != "*")

    def shape(self, shape: Shape, trace: Trace) -> Shape:
        return shape if self.axis is not None else broadcast(shape, self.extents)

    def parameters(self, shape: Shape, trace: Trace) -> tuple[ParameterSpec, ...]:
        role = ParameterRole.SCALE if self.operation == "*" else ParameterRole.BIAS
        return (ParameterSpec(self.name, self.extents, role),) if self.brought else ()

    def initialise(self, shapes: Mapping[str, tuple[int, ...]]) -> Tensors:
        if not self.brought:
            return {}
        shape = shapes[self.name]
        return {
            self.name: torch.randn(shape) if self.start is None else torch.full(shape, self.start)
        }

    def apply(self, h: Tensor, tensors: Tensors) -> Tensor:
        return _COMBINE[self.operation](h, self._of(h, tensors))

    def bound(self, b: Bound, tensors: Tensors) -> Bound:
        other = self._of(b.value, tensors)
        return _combined(self.operation, b, other, torch.zeros_like(other))

    def affine(self, tensors: Tensors) -> tuple[Tensor | float, Tensor | float] | None:
        other = tensors[self.name]
        by_channel = other.flatten() if other.numel() > 1 else other.reshape(())
        if self.operation == "*":
            return by_channel, 0.0
        return 1.0, (by_channel if self.operation == "+" else -by_channel)

    def _of(self, h: Tensor, tensors: Tensors) -> Tensor:
        other = tensors[self.name]
        if self.axis is None:
            return other
        return other.reshape(-1, *(1,) * (h.dim() - 1 - self.axis % h.dim()))


@dataclass(frozen=True)
class Keep(Stage):
    """Remember what flows by a name, for a `Residual` further on."""

    name: str
    exact = True

    def shape(self, shape: Shape, trace: Trace) -> Shape:
        trace.shapes[self.name] = shape
        return shape

    def apply(self, h: Tensor, tensors: Tensors) -> Tensor:
        assert isinstance(tensors, dict)
        tensors[self.name] = h
        return h

    def bound(self, b: Bound, tensors: Tensors) -> Bound:
        assert isinstance(tensors, dict)
        tensors[self.name] = b.value
        tensors[f"|{self.name}|"] = b.size
        return b


@dataclass(frozen=True)
class Residual(Stage):
    """Add or multiply by an input, or by what `Keep` has remembered."""

    operation: str
    name: str

    def shape(self, shape: Shape, trace: Trace) -> Shape:
        return broadcast(shape, trace.shapes[self.name])

    def apply(self, h: Tensor, tensors: Tensors) -> Tensor:
        return _COMBINE[self.operation](h, tensors[self.name])

    def bound(self, b: Bound, tensors: Tensors) -> Bound:
        value = tensors[self.name]
        kept = tensors.get(f"|{self.name}|")
        size = torch.zeros_like(value) if kept is None else kept
        return _combined(self.operation, b, value, size)


@dataclass(frozen=True)
class Dropout(Stage):
    """Zero elements at random and scale up the others, as a module in training mode does.

    The reference takes its mask from torch's global generator of the CPU: two runs differ, and the
    report on what can be refereed says so. Other ways take masks of their own, always the same, so
    that a campaign gives the same cells again.
    """

    probability: float
    random = True

    def apply(self, h: Tensor, tensors: Tensors) -> Tensor:
        return self._masked(h, torch.rand(h.shape))

    def in_order(self, h: Tensor, tensors: Tensors, order: Order) -> Tensor:
        return self._masked(h, torch.rand(h.shape, generator=torch.Generator().manual_seed(1)))

    def otherwise(self, h: Tensor, tensors: Tensors) -> Tensor:
        return self._masked(h, torch.rand(h.shape, generator=torch.Generator().manual_seed(2)))

    def bound(self, b: Bound, tensors: Tensors) -> Bound:
        size = torch.where((b.value == 0) & (b.size == 0), 0.0, (b.size + b.value.abs()))
        return b.onward(b.value, size / (1 - self.probability))

    def _masked(self, h: Tensor, draw: Tensor) -> Tensor:
        # A meta tensor has a shape and no numbers.
        keep = (draw >= self.probability).to(h.device, h.dtype)
        return h * keep / (1 - self.probability)
