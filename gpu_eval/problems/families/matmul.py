"""What products of matrices have in common: their magnitude, and controls that round differently.

A product is seen as one of matrices, or of batches of them, however the benchmark lays its
tensors out: `Product` says how to get there and back. All of it is generic in the dtype.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import torch

from gpu_eval.problems.definition import Control, Substrate, Tensors
from gpu_eval.problems.orders import Order, Terms, ordered_controls

FMA_OFF = ("-ffp-contract=off",)

_HIGH_HALF = -(1 << 12)
"""Keeps sign, exponent and the upper 12 of the 24 bits of an fp32 significand."""


def _same(product: torch.Tensor, tensors: Tensors) -> torch.Tensor:
    return product


@dataclass(frozen=True, slots=True)
class Product:
    """How a problem's tensors are factors of a product of matrices.

    Attributes
    ----------
    left, right : callable
        Named tensors to the factors, of shapes (m, k) and (k, n), or (batch, m, k) and
        (batch, k, n).
    finish : callable
        The product and the named tensors to the output in its own shape.
    output : str
        The output's name.
    """

    left: Callable[[Tensors], torch.Tensor]
    right: Callable[[Tensors], torch.Tensor]
    finish: Callable[[torch.Tensor, Tensors], torch.Tensor] = _same
    output: str = "c"

    def magnitude(self, tensors: Tensors) -> Tensors:
        """Sum the absolute products."""
        return self._finished(self.left(tensors).abs() @ self.right(tensors).abs(), tensors)

    def in_order(self, tensors: Tensors, order: Order) -> Tensors:
        """Add rank-1 products, each rounded, in a given order."""
        a, b = self.left(tensors), self.right(tensors)
        if a.dim() == 2:
            return self._finished(_ordered(a, b, order), tensors)
        total = torch.stack([_ordered(x, y, order) for x, y in zip(a, b, strict=True)])
        return self._finished(total, tensors)

    def in_blocks(self, tensors: Tensors) -> Tensors:
        """Multiply blocks of 16 terms with the library and add the block products.

        Very long sums go in 1,024 blocks.
        """
        a, b = self.left(tensors), self.right(tensors)
        size = max(16, a.shape[-1] // 128)
        lefts, rights = torch.split(a, size, dim=-1), torch.split(b, size, dim=-2)
        total = lefts[0] @ rights[0]
        for left, right in itertools.islice(zip(lefts, rights, strict=True), 1, None):
            total = total + left @ right
        return self._finished(total, tensors)

    def by_halves(self, tensors: Tensors) -> Tensors:
        """Multiply the 12-bit halves of all significands, and add the four products.

        That is how units with narrow multipliers are made to give fp32's accuracy: products of
        halves are exact, so that only sums round.
        """
        a_high, a_low = halves(self.left(tensors))
        b_high, b_low = halves(self.right(tensors))
        small = a_low @ b_low + (a_low @ b_high + a_high @ b_low)
        return self._finished(small + a_high @ b_high, tensors)

    def controls(
        self,
        reference: Callable[[Tensors], Tensors],
        fma_off: Substrate,
        *further: Control,
    ) -> tuple[Control, ...]:
        """Return what every product is controlled by.

        Parameters
        ----------
        reference : callable
            The problem's own.
        fma_off : Substrate
            Compiled once more, without fused multiply-adds.
        *further : Control
            A problem's own ones.
        """
        return (
            *ordered_controls(self.in_order),
            Control("blocked-16", "tile", run=self.in_blocks),
            Control("halves", "emulation", run=self.by_halves),
            *further,
            Control("fma-off", "fma_off", substrate=fma_off, flags=FMA_OFF),
            Control("eager", "eager", run=reference, identical=True),
        )

    def _finished(self, product: torch.Tensor, tensors: Tensors) -> Tensors:
        return {self.output: self.finish(product, tensors)}


def halves(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return two tensors of at most 12 significant bits each that add up to an fp32 tensor."""
    high = (x.contiguous().view(torch.int32) & _HIGH_HALF).view(torch.float32)
    return high, x - high


def _ordered(a: torch.Tensor, b: torch.Tensor, order: Order) -> torch.Tensor:
    return order(Terms(a.t()[:, :, None], b[:, None, :]), b.shape[0])


PLAIN = Product(lambda tensors: tensors["a"], lambda tensors: tensors["b"])
"""C = A B as the tensors lie."""
