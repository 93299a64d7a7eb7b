"""Stages of fused problems: what follows a producer, each in several ways.

A stage is one line of a benchmark's ``forward``. It says what the library computes, how a sum in it
goes in another order, another formula for the same numbers, how far errors are carried through it,
and what it does to shapes. `gpu_eval.problems.families.fused` strings stages together.
"""

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from gpu_eval.problems.definition import ParameterRole, ParameterSpec, Tensors
from gpu_eval.problems.orders import Order

Shape = tuple[str, ...]
"""Sizes as expressions, mostly names of dimensions and derived sizes."""

NEAR = 2.0**-18
"""Values within so many times their size of a bound may fall on either side of it."""


@dataclass
class Trace:
    """What is known of shapes on the way through the stages.

    Attributes
    ----------
    shapes : dict
        Of inputs, parameters and kept tensors.
    derived : dict
        Sizes that stages name.
    """

    shapes: dict[str, Shape] = field(default_factory=dict)
    derived: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Bound:
    """A tensor with the size of what rounds in it.

    Attributes
    ----------
    value, size : Tensor
        The result, and the sum of absolute terms that went into it, carried through the stages
        to first order: an error in front of a stage counts times the stage's derivative.
    low, high : float
        Between which all values are known to lie.
    """

    value: Tensor
    size: Tensor
    low: float = -math.inf
    high: float = math.inf


class Stage:
    """What all stages have; most of it may stay as it is."""

    exact = False
    """Whether integers stay numbers that fp32 holds, and nothing rounds."""

    sums = False
    """Whether `in_order` depends on the order."""

    random = False
    """Whether two runs differ."""

    def shape(self, shape: Shape, trace: Trace) -> Shape:
        """Return the result's shape, and name sizes in the trace."""
        return shape

    def parameters(self, shape: Shape, trace: Trace) -> tuple[ParameterSpec, ...]:
        """Return the parameters that the stage brings, given the shape in front of it."""
        return ()

    def initialise(self, shapes: Mapping[str, tuple[int, ...]]) -> Tensors:
        """Draw the stage's parameters as the benchmark's model does."""
        return {}

    def terms(self, shape: Shape, trace: Trace) -> str:
        """Return an expression for how many terms a result sums; empty where nothing is summed."""
        return ""

    def apply(self, h: Tensor, tensors: Tensors) -> Tensor:
        """Compute what the benchmark's model computes, with the library."""
        raise NotImplementedError

    def in_order(self, h: Tensor, tensors: Tensors, order: Order) -> Tensor:
        """Compute it with all sums in an order."""
        return self.apply(h, tensors)

    def otherwise(self, h: Tensor, tensors: Tensors) -> Tensor:
        """Compute it by another formula."""
        return self.apply(h, tensors)

    def bound(self, b: Bound, tensors: Tensors) -> Bound:
        """Carry the size of errors through the stage."""
        raise NotImplementedError

    def affine(self, tensors: Tensors) -> tuple[Tensor | float, Tensor | float] | None:
        """Return scale and shift by channel, or numbers, where the stage is no more than that."""
        return None


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
        return Bound(value, slope.abs() * b.size + own)


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
        return Bound(value, torch.where(passes, b.size, 0.0), lowest, highest)


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
        return Bound(value, steep * b.size + value.abs())


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
        return Bound(value, size if self.exact else size + value.abs())

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
        return Bound(value, b.size + abs(self.number))

    def affine(self, tensors: Tensors) -> tuple[Tensor | float, Tensor | float] | None:
        return 1.0, self.number


def subtract(number: float) -> Shift:
    """Return the subtraction of a number."""
    return Shift(-number)


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
        return Bound(result, a.size * value.abs() + a.value.abs() * size + result.abs())
    return Bound(result, a.size + size)


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
        # A parameter is given, not computed: it brings its own size only where it is added.
        return _combined(
            self.operation, b, other, 0 * other.abs() if self.operation == "*" else other.abs()
        )

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
        size = value.abs() if kept is None else kept
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
        return Bound(b.value, size / (1 - self.probability))

    def _masked(self, h: Tensor, draw: Tensor) -> Tensor:
        # A meta tensor has a shape and no numbers.
        keep = (draw >= self.probability).to(h.device, h.dtype)
        return h * keep / (1 - self.probability)
