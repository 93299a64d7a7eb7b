"""Producers of fused problems, linear layers among them, and folding scales into them."""

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce

import torch
from torch import Tensor, nn
from torch.nn import functional

from gpu_eval.problems.definition import ParameterRole, ParameterSpec, Tensors
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

    def described(self, extents: Shape, features: str) -> tuple[ParameterSpec, ...]:
        """Return the weight of these extents, and the bias of so many features if there is one."""
        weight = ParameterSpec(self.weight, extents, ParameterRole.WEIGHT)
        if not self.bias:
            return (weight,)
        return (weight, ParameterSpec(self.bias, (features,), ParameterRole.BIAS))

    def products(self, h: Tensor, weight: Tensor) -> Tensor:
        """Return the sums of products by the library, without the bias."""
        raise NotImplementedError

    def count(self, weight: Tensor) -> int:
        """Return how many products an output sums, as `terms` has it."""
        return weight[0].numel()

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
        own = self.with_bias(self.products(b.value.abs(), absolute[self.weight]), absolute)
        carried = self.products(b.size, absolute[self.weight])
        count = self.count(tensors[self.weight])
        value = self.apply(b.value, tensors)
        return b.onward(value, carried + math.sqrt(count) * own, terms=count)


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
        return self.described((self.features, shape[-1]), self.features)

    def initialise(self, shapes: Mapping[str, tuple[int, ...]]) -> Tensors:
        if self.normal:
            return {self.weight: torch.randn(shapes[self.weight])}
        features, width = shapes[self.weight]
        return drawn_by(nn.Linear(width, features, bias=bool(self.bias)), self)

    def terms(self, shape: Shape, trace: Trace) -> str:
        return shape[-1]

    def apply(self, h: Tensor, tensors: Tensors) -> Tensor:
        return functional.linear(h, tensors[self.weight], tensors[self.bias] if self.bias else None)

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
    return reduce(torch.add, parts)


def drawn_by(layer: nn.Module, names: Producer) -> Tensors:
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
