"""What normalisations share: standardising rows by their moments, dividing rows by a norm.

Rows are what one set of statistics is taken over, whatever the layout of the benchmark's tensor.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from gpu_eval.problems.definition import Control, Substrate, Tensors
from gpu_eval.problems.orders import Order, ordered_controls, running_moments, terms_of_rows

FMA_OFF = ("-ffp-contract=off",)


def affine_identity(shapes: Mapping[str, tuple[int, ...]]) -> Tensors:
    """Return the scale of one and the shift of zero that affine layers start from."""
    return {"weight": torch.ones(shapes["weight"]), "bias": torch.zeros(shapes["bias"])}


def plain(y: Tensor, tensors: Tensors) -> Tensor:
    """Leave a standardised tensor as it is."""
    return y


def by_channel(y: Tensor, tensors: Tensors) -> Tensor:
    """Scale and shift the channels, the second of four dimensions."""
    return y * tensors["weight"][:, None, None] + tensors["bias"][:, None, None]


@dataclass(frozen=True, slots=True)
class Standardisation:
    """``(x - mean) / sqrt(variance + eps)``, variances biased, then perhaps an affine map.

    Attributes
    ----------
    rows : callable
        ``x`` as a matrix: a row for each set of statistics.
    back : callable
        Such a matrix and the shape of ``x`` to a tensor of that shape.
    affine : callable
        A standardised tensor and the named tensors to the output.
    eps : float
    """

    rows: Callable[[Tensor], Tensor]
    back: Callable[[Tensor, torch.Size], Tensor]
    affine: Callable[[Tensor, Tensors], Tensor]
    eps: float

    def magnitude(self, tensors: Tensors) -> Tensors:
        """Take absolute values wherever the formula subtracts or adds."""
        rows = self.rows(tensors["x"])
        deviation = torch.sqrt(rows.var(dim=1, correction=0, keepdim=True) + self.eps)
        sizes = (rows.abs() + rows.abs().mean(dim=1, keepdim=True)) / deviation
        absolute = {name: tensor.abs() for name, tensor in tensors.items()}
        return {"y": self.affine(self.back(sizes, tensors["x"].shape), absolute)}

    def in_order(self, tensors: Tensors, order: Order) -> Tensors:
        """Two passes: the mean, then the squared deviations, both summed in a given order."""
        rows = self.rows(tensors["x"])
        count = rows.shape[1]
        mean = (order(terms_of_rows(rows), count) / count)[:, None]
        squares = (rows - mean).square()
        return self._finished(
            tensors, mean, (order(terms_of_rows(squares), count) / count)[:, None]
        )

    def by_welford(self, tensors: Tensors) -> Tensors:
        """Update mean and squared deviations element by element."""
        rows = self.rows(tensors["x"])
        mean, m2 = running_moments(rows)
        return self._finished(tensors, mean[:, None], (m2 / rows.shape[1])[:, None])

    def by_merged_chunks(self, tensors: Tensors) -> Tensors:
        """Merge the moments of chunks of 32 elements (Chan, Golub, LeVeque, 1983).

        Very long rows go in 128 chunks.
        """
        rows = self.rows(tensors["x"])
        seen = 0
        mean, m2 = torch.zeros_like(rows[:, :1]), torch.zeros_like(rows[:, :1])
        for chunk in torch.split(rows, max(32, rows.shape[1] // 128), dim=1):
            size = chunk.shape[1]
            chunk_mean = chunk.mean(dim=1, keepdim=True)
            chunk_m2 = (chunk - chunk_mean).square().sum(dim=1, keepdim=True)
            delta = chunk_mean - mean
            share = size / (seen + size)
            mean = mean + delta * share
            m2 = m2 + chunk_m2 + delta * delta * (seen * share)
            seen += size
        return self._finished(tensors, mean, m2 / seen)

    def by_corrected_mean(self, tensors: Tensors) -> Tensors:
        """Subtract the mean of what the first mean left over, in mean and variance alike."""
        rows = self.rows(tensors["x"])
        rough = rows.mean(dim=1, keepdim=True)
        left = rows - rough
        rest = left.mean(dim=1, keepdim=True)
        variance = left.square().mean(dim=1, keepdim=True) - rest * rest
        y = (left - rest) / torch.sqrt(variance + self.eps)
        return {"y": self.affine(self.back(y, tensors["x"].shape), tensors)}

    def controls(self, fused: Substrate) -> tuple[Control, ...]:
        """Return the controls; ``fused`` is the implementation to compile without fused adds."""
        return (
            *ordered_controls(self.in_order, prefix="two-pass-"),
            Control("welford-serial", "welford", run=self.by_welford),
            Control("merged-32", "algorithm", run=self.by_merged_chunks),
            Control("corrected-mean", "corrected", run=self.by_corrected_mean),
            Control("fma-off", "fma_off", substrate=fused, flags=FMA_OFF),
        )

    def _finished(self, tensors: Tensors, mean: Tensor, variance: Tensor) -> Tensors:
        rows = self.rows(tensors["x"])
        y = (rows - mean) * torch.rsqrt(variance + self.eps)
        return {"y": self.affine(self.back(y, tensors["x"].shape), tensors)}


@dataclass(frozen=True, slots=True)
class Division:
    """``x / norm``, the norm a function of a sum over the terms of a row.

    Attributes
    ----------
    rows : callable
        ``x`` as a matrix: a row for each norm.
    term : callable
        What is summed, element by element: absolute values or squares.
    norm : callable
        Sums, of shape (rows, 1), and the length of a row to the norms.
    """

    rows: Callable[[Tensor], Tensor]
    term: Callable[[Tensor], Tensor]
    norm: Callable[[Tensor, int], Tensor]

    def in_order(self, tensors: Tensors, order: Order) -> Tensors:
        """Sum in a given order and divide."""
        rows = self.rows(tensors["x"])
        count = rows.shape[1]
        total = order(terms_of_rows(self.term(rows)), count)[:, None]
        return _shaped(rows / self.norm(total, count), tensors)

    def by_reciprocal(self, tensors: Tensors) -> Tensors:
        """Sum by the library and multiply by the norm's reciprocal."""
        rows = self.rows(tensors["x"])
        total = self.term(rows).sum(dim=1, keepdim=True)
        return _shaped(rows * self.norm(total, rows.shape[1]).reciprocal(), tensors)

    def by_halves(self, tensors: Tensors) -> Tensors:
        """Add the upper half of a row's terms to the lower half until one is left."""
        rows = self.rows(tensors["x"])
        terms = self.term(rows)
        while terms.shape[1] > 1:
            half = (terms.shape[1] + 1) // 2
            folded = terms[:, :half].clone()
            folded[:, : terms.shape[1] - half] += terms[:, half:]
            terms = folded
        return _shaped(rows / self.norm(terms, rows.shape[1]), tensors)

    def controls(self, fused: Substrate | None = None) -> tuple[Control, ...]:
        """Return the controls; ``fused``: as in `Standardisation.controls`, if anything fuses."""
        fma_off = (
            ()
            if fused is None
            else (Control("fma-off", "fma_off", substrate=fused, flags=FMA_OFF),)
        )
        return (
            *ordered_controls(self.in_order),
            Control("reciprocal", "reciprocal", run=self.by_reciprocal),
            Control("halves", "tree", run=self.by_halves),
            *fma_off,
        )


def _shaped(rows: Tensor, tensors: Tensors) -> Tensors:
    return {"y": rows.reshape(tensors["x"].shape)}
