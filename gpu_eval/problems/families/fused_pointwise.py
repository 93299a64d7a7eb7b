"""Stages of fused problems that are functions of one element, with numbers for constants."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from gpu_eval.problems.definition import Tensors
from gpu_eval.problems.families.fused_stages import Bound, Stage

NEAR = 2.0**-20
"""Values within so many times their size of a bound may fall on either side of it: 16 times the
expected error."""


@dataclass(frozen=True)
class Pointwise(Stage):
    """A smooth function of each element.

    Attributes
    ----------
    function : callable
        As the benchmark writes it.
    other : callable or None
        Another formula, as accurate.
    terms_of : callable or None
        Absolute terms that its formulas add, of |value|; None: the result alone.
    """

    function: Callable[[Tensor], Tensor]
    other: Callable[[Tensor], Tensor] | None = None
    terms_of: Callable[[Tensor], Tensor] | None = None

    def apply(self, h: Tensor, tensors: Tensors) -> Tensor:
        return self.function(h)

    def otherwise(self, h: Tensor, tensors: Tensors) -> Tensor:
        return (self.other or self.function)(h)

    def bound(self, b: Bound, tensors: Tensors) -> Bound:
        with torch.enable_grad():
            x = b.value.detach().requires_grad_()
            y = self.function(x)
            (slope,) = torch.autograd.grad(y.sum(), x)
        value = y.detach()
        own = value.abs() if self.terms_of is None else self.terms_of(b.value.abs())
        return b.onward(value, slope.abs() * b.size + own)


@dataclass(frozen=True)
class Clamp(Stage):
    """Bounds on either side: ReLU, hardtanh, clamp, min and max with a number."""

    low: float | None = None
    high: float | None = None
    exact = True

    def apply(self, h: Tensor, tensors: Tensors) -> Tensor:
        return torch.clamp(h, self.low, self.high)

    def otherwise(self, h: Tensor, tensors: Tensors) -> Tensor:
        y = h if self.low is None else torch.where(h < self.low, torch.full_like(h, self.low), h)
        return y if self.high is None else torch.where(y > self.high, self.high, y)

    def bound(self, b: Bound, tensors: Tensors) -> Bound:
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        value = b.value.clamp(low, high)
        lowest, highest = min(max(b.low, low), high), min(max(b.high, low), high)
        # Nothing is left of an error beyond a bound.
        passes = (b.value >= low - NEAR * b.size) & (b.value <= high + NEAR * b.size)
        passes &= torch.tensor(lowest < highest, device=value.device)
        return b.onward(value, torch.where(passes, b.size, 0.0), low=lowest, high=highest)


def relu() -> Clamp:
    """Return max(x, 0)."""
    return Clamp(low=0.0)


@dataclass(frozen=True)
class LeakyRelu(Stage):
    """Multiply what is negative by a slope."""

    slope: float = 0.01

    def apply(self, h: Tensor, tensors: Tensors) -> Tensor:
        return torch.nn.functional.leaky_relu(h, self.slope)

    def otherwise(self, h: Tensor, tensors: Tensors) -> Tensor:
        return h.clamp(min=0) + self.slope * h.clamp(max=0)

    def bound(self, b: Bound, tensors: Tensors) -> Bound:
        value = self.apply(b.value, tensors)
        steep = torch.where(b.value > -NEAR * b.size, 1.0, abs(self.slope))
        return b.onward(value, steep * b.size + value.abs())


def _power_of_two(number: float) -> bool:
    return number != 0 and math.frexp(abs(number))[0] == 0.5


@dataclass(frozen=True)
class Scale(Stage):
    """Multiply by a number, or divide by it."""

    factor: float
    divide: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "exact", _power_of_two(self.factor))

    def apply(self, h: Tensor, tensors: Tensors) -> Tensor:
        return h / self.factor if self.divide else h * self.factor

    def otherwise(self, h: Tensor, tensors: Tensors) -> Tensor:
        return h * (1.0 / self.factor) if self.divide else h / (1.0 / self.factor)

    def bound(self, b: Bound, tensors: Tensors) -> Bound:
        value = self.apply(b.value, tensors)
        size = self.apply(b.size, tensors).abs()
        return b.onward(value, size if self.exact else size + value.abs())

    def affine(self, tensors: Tensors) -> tuple[Tensor | float, Tensor | float] | None:
        return (1.0 / self.factor if self.divide else self.factor), 0.0


def divide(number: float) -> Scale:
    """Return the division by a number."""
    return Scale(number, divide=True)


@dataclass(frozen=True)
class Shift(Stage):
    """Add a number."""

    number: float

    def apply(self, h: Tensor, tensors: Tensors) -> Tensor:
        return h + self.number

    def bound(self, b: Bound, tensors: Tensors) -> Bound:
        value = b.value + self.number
        return b.onward(value, b.size + abs(self.number) + value.abs())

    def affine(self, tensors: Tensors) -> tuple[Tensor | float, Tensor | float] | None:
        return 1.0, self.number


def subtract(number: float) -> Shift:
    """Return the subtraction of a number."""
    return Shift(-number)
