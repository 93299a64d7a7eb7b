"""Summation orders for controls: every addition rounded to the terms' own dtype, none reordered.

``torch.sum``, ``torch.cumsum`` and ``torch.matmul`` block, vectorise or widen their sums, so that
a control built from them would not say what it claims. Here a sum is a chain of element-wise
additions over a function that gives the terms one by one; all outputs advance together.
"""

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING

from gpu_eval.problems.definition import Control, Tensors

if TYPE_CHECKING:
    from torch import Tensor

Term = Callable[[int], "Tensor"]
"""Term k of the sums, for all outputs at once."""

Order = Callable[[Term, int], "Tensor"]
"""Sums ``term(0) ... term(count - 1)``; count is at least 1."""


def serial(term: Term, count: int) -> "Tensor":
    """Add from the first term to the last."""
    return _serial(term, 0, count)


def backward(term: Term, count: int) -> "Tensor":
    """Add from the last term to the first."""
    return _serial(lambda k: term(count - 1 - k), 0, count)


def pairwise(term: Term, count: int) -> "Tensor":
    """Add neighbours, then neighbouring sums, and so on: a tree of depth log2(count).

    Works like a binary counter, so that at most log2(count) partial sums are alive.
    """
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
        parts = [_serial(term, a, b) for a, b in itertools.pairwise(edges) if b > a]
        return serial(parts.__getitem__, len(parts))

    return order


def interleaved(lanes: int) -> Order:
    """Return an order with ``lanes`` accumulators in turn, as an unrolled loop or a block has."""

    def order(term: Term, count: int) -> "Tensor":
        parts: list[Tensor] = []
        for lane in range(min(lanes, count)):
            indices = range(lane, count, lanes)
            parts.append(_serial(lambda k, i=indices: term(i[k]), 0, len(indices)))  # type: ignore[misc]
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
    columns = rows.t().contiguous().unbind(0)
    return columns.__getitem__


def _serial(term: Term, start: int, stop: int) -> "Tensor":
    total = term(start).clone()
    for k in range(start + 1, stop):
        total += term(k)
    return total
