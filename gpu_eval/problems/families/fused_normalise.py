"""The stage of fused problems that standardises: batch, instance, layer and group norm."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from gpu_eval.problems.definition import ParameterRole, ParameterSpec, Tensors
from gpu_eval.problems.families.fused_stages import Bound, Shape, Stage, Trace, product_of
from gpu_eval.problems.orders import Order, Terms, running_moments


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
                return product_of((shape[0], *shape[2:]))
            case "instance":
                return product_of(shape[2:])
            case "last":
                return shape[-1]
            case "row":
                return product_of(shape[1:])
        channels = str(self.width) if self.width else f"{shape[1]} // {self.groups}"
        return product_of((channels, *shape[2:]))

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
                # As the benchmark has it: one channel whose image is the row.
                rows = h.reshape(h.shape[0], 1, 1, -1)
                return functional.instance_norm(rows, eps=self.eps).reshape(h.shape)
        return functional.group_norm(h, self._groups(h), weight, bias, self.eps)

    def in_order(self, h: Tensor, tensors: Tensors, order: Order) -> Tensor:
        rows = self._rows(h)
        count = rows.shape[1]
        mean = (order(Terms(rows.t()), count) / count)[:, None]
        squares = (rows - mean).square()
        variance = (order(Terms(squares.t()), count) / count)[:, None]
        return self._mapped(self._back((rows - mean) / torch.sqrt(variance + self.eps), h), tensors)

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
        root = math.sqrt(rows.shape[1])
        own = (rows.abs() + root * rows.abs().mean(1, keepdim=True)) * inverse + root * y.abs()
        absolute = {name: tensor.abs() for name, tensor in tensors.items()}
        return b.onward(
            self._mapped(self._back(y, b.value), tensors),
            self._mapped(self._back(carried + own, b.value), absolute),
            terms=rows.shape[1],
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
