"""Summation orders for controls: every addition rounded to the terms' own dtype, none reordered.

``torch.sum``, ``torch.cumsum`` and ``torch.matmul`` block, vectorise or widen their sums, so that
a control built from them would not say what it claims. Here a sum is a chain of element-wise
additions over a function that gives the terms one by one; all outputs advance together. Terms that
are rows of tensors (`Terms`) take one launch on a GPU instead of one a term, to the same bits.
"""

import itertools
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from gpu_eval.problems.definition import Control, Tensors

if TYPE_CHECKING:
    from torch import Tensor

Term = Callable[[int], "Tensor"]
"""Term k of the sums, for all outputs at once."""

Order = Callable[[Term, int], "Tensor"]
"""Sums ``term(0) ... term(count - 1)``; count is at least 1."""


class Terms:
    """Terms ``left[k]``, or ``left[k] * right[k]`` with the product rounded.

    Parameters
    ----------
    left, right : Tensor
        Term k is made of their slices k along the first dimension. Of the two slices at most one
        is longer than 1 in any dimension, so that their product is an outer one.
    """

    def __init__(self, left: "Tensor", right: "Tensor | None" = None) -> None:
        self.left = left.contiguous()
        self.right = None if right is None else right.contiguous()

    def __call__(self, k: int) -> "Tensor":
        """Return term k."""
        lefts, rights = self._slices
        return lefts[k] if rights is None else lefts[k] * rights[k]

    @cached_property
    def _slices(self) -> "tuple[tuple[Tensor, ...], tuple[Tensor, ...] | None]":
        return self.left.unbind(0), None if self.right is None else self.right.unbind(0)

    @property
    def fast(self) -> bool:
        """Whether a GPU can walk the terms by itself."""
        if not self.left.is_cuda:
            return False
        from gpu_eval.devices import cuda_chains

        return cuda_chains.usable(self.left, self.right)

    def chains(self, parts: Sequence[range]) -> "list[Tensor]":
        """Add the terms of each part in the order of their indices, on a GPU."""
        from gpu_eval.devices import cuda_chains

        return [self._shaped(total) for total in cuda_chains.chains(*self._flat(), parts)]

    def tree(self, count: int) -> "Tensor":
        """Add the first terms pairwise, on a GPU."""
        from gpu_eval.devices import cuda_chains

        return self._shaped(cuda_chains.tree(*self._flat(), count))

    def _flat(self) -> "tuple[Tensor, Tensor | None]":
        count = self.left.shape[0]
        right = None if self.right is None else self.right.reshape(count, -1)
        return self.left.reshape(count, -1), right

    def _shaped(self, total: "Tensor") -> "Tensor":
        if self.right is None:
            return total.reshape(self.left.shape[1:])
        return total.reshape((self.left[0] * self.right[0]).shape)


def serial(term: Term, count: int) -> "Tensor":
    """Add from the first term to the last."""
    return _serial(term, range(count))


def backward(term: Term, count: int) -> "Tensor":
    """Add from the last term to the first."""
    return _serial(term, range(count - 1, -1, -1))


def pairwise(term: Term, count: int) -> "Tensor":
    """Add neighbours, then neighbouring sums, and so on: a tree of depth log2(count).

    Works like a binary counter, so that at most log2(count) partial sums are alive.
    """
    if isinstance(term, Terms) and term.fast:
        return term.tree(count)
    levels: list[tuple[int, Tensor]] = []
    for k in range(count):
        level, value = 0, term(k)
        while levels and levels[-1][0] == level:
            value = levels.pop()[1] + value
            level += 1
        levels.append((level, value))
    total = levels.pop()[1]
    while levels:
        total = levels.pop()[1] + total
    return total


def chunked(chunks: int) -> Order:
    """Return an order that adds ``chunks`` contiguous parts serially, then the partial sums."""

    def order(term: Term, count: int) -> "Tensor":
        edges = [count * i // chunks for i in range(chunks + 1)]
        parts = _chains(term, [range(a, b) for a, b in itertools.pairwise(edges) if b > a])
        return serial(parts.__getitem__, len(parts))

    return order


def interleaved(lanes: int) -> Order:
    """Return an order with ``lanes`` accumulators in turn, as an unrolled loop or a block has."""

    def order(term: Term, count: int) -> "Tensor":
        parts = _chains(term, [range(lane, count, lanes) for lane in range(min(lanes, count))])
        return pairwise(parts.__getitem__, len(parts))

    return order


ORDERS: tuple[tuple[str, str, Order], ...] = (
    ("serial", "serial", serial),
    ("reversed", "reversed", backward),
    ("pairwise", "pairwise", pairwise),
    ("chunked-2", "chunked", chunked(2)),
    ("chunked-4", "chunked", chunked(4)),
    ("chunked-8", "chunked", chunked(8)),
    ("interleaved-4", "interleaved", interleaved(4)),
)
"""Name, control kind and order."""


def ordered_controls(
    run: Callable[[Tensors, Order], Tensors], *, prefix: str = ""
) -> tuple[Control, ...]:
    """Return one control for each of `ORDERS`.

    Parameters
    ----------
    run : callable
        The operation, given its tensors and the order in which it shall sum.
    prefix : str
        Put before each name.
    """

    def bind(order: Order) -> Callable[[Tensors], Tensors]:
        return lambda tensors: run(tensors, order)

    return tuple(
        Control(name=f"{prefix}{name}", kind=kind, run=bind(order)) for name, kind, order in ORDERS
    )


def terms_of_rows(rows: "Tensor") -> Term:
    """Return the columns of a matrix as terms: sums over them are sums along its rows."""
    return Terms(rows.t())


def running_sums(x: "Tensor", start: "Tensor | None" = None) -> "Tensor":
    """Return the prefix sums of each row, term after term, each rounded.

    Parameters
    ----------
    x : Tensor, shape (rows, count)
    start : Tensor, shape (rows,), optional
        What stands before the first term.
    """
    import torch

    if x.is_cuda:
        from gpu_eval.devices import cuda_chains

        if cuda_chains.usable(x, start):
            columns = x.t().contiguous()
            before = None if start is None else start.contiguous()
            return cuda_chains.scan(columns, before).t().contiguous()
    sums: list[Tensor] = []
    running = start
    for column in x.unbind(1):
        running = column if running is None else running + column
        sums.append(running)
    return torch.stack(sums, dim=1)


def reversed_sums(x: "Tensor") -> "Tensor":
    """Return the prefix sums of each row, each summed anew from its last term back to the first.

    Parameters
    ----------
    x : Tensor, shape (rows, count)
    """
    if x.is_cuda:
        from gpu_eval.devices import cuda_chains

        if cuda_chains.usable(x):
            return cuda_chains.backward(x.contiguous())
    total = x.clone()
    for distance in range(1, x.shape[1]):
        total[:, distance:] += x[:, :-distance]
    return total


def running_moments(rows: "Tensor") -> "tuple[Tensor, Tensor]":
    """Return mean and sum of squared deviations of each row, updated element by element (Welford).

    Parameters
    ----------
    rows : Tensor, shape (outputs, count)
    """
    import torch

    columns = rows.t().contiguous()
    if columns.is_cuda:
        from gpu_eval.devices import cuda_chains

        if cuda_chains.usable(columns):
            return cuda_chains.welford(columns)
    mean, m2 = torch.zeros_like(columns[0]), torch.zeros_like(columns[0])
    for k, value in enumerate(columns.unbind(0), start=1):
        delta = value - mean
        mean = mean + delta / k
        m2 = m2 + delta * (value - mean)
    return mean, m2


def _chains(term: Term, parts: Sequence[range]) -> "list[Tensor]":
    if isinstance(term, Terms) and term.fast:
        return term.chains(parts)
    return [_serial(term, part) for part in parts]


def _serial(term: Term, indices: range) -> "Tensor":
    if isinstance(term, Terms) and term.fast:
        return term.chains([indices])[0]
    total = term(indices[0]).clone()
    for k in indices[1:]:
        total += term(k)
    return total
