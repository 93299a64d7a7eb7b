"""What losses share: one number out of whole tensors, the mean of terms or of row losses."""

from collections.abc import Callable

import torch

from gpu_eval.problems.definition import Control, Tensors
from gpu_eval.problems.orders import Order, Terms, ordered_controls, terms_of_rows

Elements = Callable[[Tensors], torch.Tensor]
"""A loss's terms, a matrix of rows x cols, each rounded to the inputs' dtype."""


def mean_controls(
    terms: Elements, eager: Callable[[Tensors], Tensors], *further: Control
) -> tuple[Control, ...]:
    """Return the controls of a loss that is the mean of terms over a whole matrix.

    Orders are those of the terms of a row, and again of the rows' sums: one chain over some 2**30
    terms would stand still long before its end.

    Parameters
    ----------
    terms : callable
    eager : callable
        The reference.
    further : Control
        Those of the problem alone.
    """

    def in_order(tensors: Tensors, order: Order) -> Tensors:
        matrix = terms(tensors)
        return {"loss": mean_over_rows(sum_over_rows(matrix, order), order) / matrix.shape[1]}

    def by_rows(tensors: Tensors) -> Tensors:
        return {"loss": terms(tensors).mean(dim=1).mean()}

    def by_columns(tensors: Tensors) -> Tensors:
        matrix = terms(tensors)
        return {"loss": matrix.sum(dim=0).sum() * (1 / matrix.numel())}

    def by_product(tensors: Tensors) -> Tensors:
        matrix = terms(tensors)
        shares = torch.full_like(matrix[0], 1 / matrix.shape[1])
        return {"loss": (matrix @ shares).sum() / matrix.shape[0]}

    return (
        *ordered_controls(in_order),
        Control("rows", "order", run=by_rows),
        Control("columns", "tile", run=by_columns),
        Control("product", "algorithm", run=by_product),
        *further,
        Control("eager", "eager", run=eager, identical=True),
    )


def sum_over_rows(rows: torch.Tensor, order: Order) -> torch.Tensor:
    """Return the sum of each row of a matrix, added in an order."""
    return order(terms_of_rows(rows), rows.shape[1])


def mean_over_rows(losses: torch.Tensor, order: Order) -> torch.Tensor:
    """Return the mean of a vector, added in an order."""
    return order(Terms(losses), len(losses)) / len(losses)
