"""Stages of fused problems: what follows a producer, each in several ways.

A stage is one line of a benchmark's ``forward``. It says what the library computes, how a sum in it
goes in another order, another formula for the same numbers, how far errors are carried through it,
and what it does to shapes. `gpu_eval.problems.families.fused` strings stages together.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from torch import Tensor

from gpu_eval.problems.definition import ParameterSpec, Tensors
from gpu_eval.problems.orders import Order

Shape = tuple[str, ...]
"""Sizes as expressions, mostly names of dimensions and derived sizes."""


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
    """A tensor with the error that is expected in it.

    Attributes
    ----------
    value, size : Tensor
        The result, and its expected error in units of the roundoff: what each stage rounds, the
        root of the number of terms times the sum of their absolute values, carried through the
        stages after it to first order.
    low, high : float
        Between which all values are known to lie.
    terms : int
        How many terms the sums so far had, one of each stage together.
    """

    value: Tensor
    size: Tensor
    low: float = -math.inf
    high: float = math.inf
    terms: int = 0

    def onward(
        self,
        value: Tensor,
        size: Tensor,
        *,
        low: float = -math.inf,
        high: float = math.inf,
        terms: int = 0,
    ) -> "Bound":
        """Return what a stage makes of it, summing so many terms."""
        return Bound(value, size, low, high, self.terms + terms)


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
        """Carry expected errors through the stage, and add its own."""
        raise NotImplementedError

    def affine(self, tensors: Tensors) -> tuple[Tensor | float, Tensor | float] | None:
        """Return scale and shift by channel, or numbers, where the stage is no more than that."""
        return None


def product_of(sizes: Shape) -> str:
    """Return the expression for a product of sizes."""
    return " * ".join(size if size.isidentifier() else f"({size})" for size in sizes) or "1"
