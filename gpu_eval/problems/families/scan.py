"""What prefix scans along the rows of a matrix share: orders of evaluation, and their controls."""

from collections.abc import Callable

import torch

from gpu_eval.problems.definition import Control, Tensors
from gpu_eval.problems.orders import reversed_sums, running_sums

Scan = Callable[[torch.Tensor], torch.Tensor]
"""Prefix sums or products along the rows of a matrix."""

Combine = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""The associative operation of a scan, element by element."""


def doubled(combine: Combine) -> Scan:
    """Return a scan that takes in what stands 1, 2, 4, ... columns before (Hillis and Steele)."""

    def scan(x: torch.Tensor) -> torch.Tensor:
        step = 1
        while step < x.shape[1]:
            x = torch.cat((x[:, :step], combine(x[:, :-step], x[:, step:])), dim=1)
            step *= 2
        return x.clone() if x.shape[1] == 1 else x

    return scan


def by_tree(combine: Combine, neutral: Scan) -> Scan:
    """Return a scan that goes up a tree of pairs and down again (Blelloch).

    ``neutral`` gives the operation's neutral element in the shape of its argument.
    """

    def scan(x: torch.Tensor) -> torch.Tensor:
        columns = x.shape[1]
        missing = (1 << (columns - 1).bit_length()) - columns
        tree = torch.cat((x, neutral(x[:, :missing])), dim=1)
        levels = []
        while tree.shape[1] > 1:
            levels.append(tree)
            tree = combine(tree[:, 0::2], tree[:, 1::2])
        before = neutral(tree)
        for level in reversed(levels):
            before = torch.stack((before, combine(before, level[:, 0::2])), dim=2).flatten(1, 2)
        return combine(before[:, :columns], x).contiguous()

    return scan


def in_chunks(inner: Scan, combine: Combine, chunks: int) -> Scan:
    """Return a scan of so many parts, each scanned alone, then lifted by those before."""

    def scan(x: torch.Tensor) -> torch.Tensor:
        parts = torch.split(x, -(-x.shape[1] // chunks), dim=1)
        scanned = [inner(part) for part in parts]
        lifted, before = [scanned[0]], scanned[0][:, -1:]
        for part in scanned[1:]:
            lifted.append(combine(before, part))
            before = combine(before, part[:, -1:])
        return torch.cat(lifted, dim=1)

    return scan


def from_totals(x: torch.Tensor) -> torch.Tensor:
    """Sum parts of 32 columns first, and let each part's scan start from the totals before."""
    before = torch.zeros_like(x[:, 0])
    scanned = []
    for part in torch.split(x, 32, dim=1):
        scanned.append(running_sums(part, before))
        before = before + part.sum(dim=1)
    return torch.cat(scanned, dim=1)


def running_products(x: torch.Tensor) -> torch.Tensor:
    """Return the prefix products of each row, factor after factor, each rounded."""
    products = [x[:, 0]]
    for column in x.unbind(1)[1:]:
        products.append(products[-1] * column)
    return torch.stack(products, dim=1)


def scaled_products(scan: Callable[[Combine, Scan], Scan]) -> Scan:
    """Return prefix products whose partial products neither overflow nor vanish.

    What a part of a row multiplies to may leave the range of floats where no prefix does. Here
    factors are pairs of a mantissa in [0.5, 1), whose products are rounded as the dtype's are, and
    an exponent, in one further dimension.

    Parameters
    ----------
    scan : callable
        The operation and what gives its neutral element to a scan.
    """

    def products(x: torch.Tensor) -> torch.Tensor:
        return _value(scan(_times, _ones)(_normalised(x, torch.zeros_like(x)))).to(x.dtype)

    return products


def _normalised(mantissa: torch.Tensor, exponent: torch.Tensor) -> torch.Tensor:
    mantissa, shift = torch.frexp(mantissa)
    return torch.stack((mantissa, exponent + shift), dim=-1)


def _times(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return _normalised(a[..., 0] * b[..., 0], a[..., 1] + b[..., 1])


def _ones(like: torch.Tensor) -> torch.Tensor:
    one = torch.ones_like(like[..., 0])
    return _normalised(one, torch.zeros_like(one))


def _value(scaled: torch.Tensor) -> torch.Tensor:
    """Return mantissas times powers of two in fp64; beyond 2**1000 either way no dtype follows."""
    exponent = scaled[..., 1].clamp(-1000, 1000).long()
    # A power of two from its bits: pow need not be exact.
    return scaled[..., 0].double() * ((exponent + 1023) << 52).view(torch.float64)


def sum_controls(
    run: Callable[[Tensors, Scan], Tensors], eager: Callable[[Tensors], Tensors]
) -> tuple[Control, ...]:
    """Return the controls of a problem that is a cumulative sum with something around it.

    Parameters
    ----------
    run : callable
        The problem, given its tensors and what scans rows of a matrix.
    eager : callable
        The reference.
    """

    def bind(scan: Scan) -> Callable[[Tensors], Tensors]:
        return lambda tensors: run(tensors, scan)

    scans: tuple[tuple[str, str, Scan], ...] = (
        ("serial", "serial", running_sums),
        ("reversed", "reversed", reversed_sums),
        ("doubling", "pairwise", doubled(torch.add)),
        ("tree", "tree", by_tree(torch.add, torch.zeros_like)),
        ("chunked-2", "chunked", in_chunks(running_sums, torch.add, 2)),
        ("chunked-4", "chunked", in_chunks(running_sums, torch.add, 4)),
        ("chunked-8", "chunked", in_chunks(running_sums, torch.add, 8)),
        ("totals-32", "tile", from_totals),
    )
    return (
        *(Control(name, kind, run=bind(scan)) for name, kind, scan in scans),
        Control("eager", "eager", run=eager, identical=True),
    )
