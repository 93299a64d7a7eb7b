"""Blind control of problem 10, the product of a 3D tensor and a matrix."""

import torch

from gpu_eval.problems.definition import Tensors

TILE = 16


def control(tensors: Tensors) -> Tensors:
    """Multiply tile by tile along k, with one accumulator for even tiles and one for odd ones.

    Written from the contract alone: the first two dimensions of ``a`` are the rows of one large
    product, and two sums in flight are what hides a multiplier's latency.

    Parameters
    ----------
    tensors : mapping
        ``a`` (n, m, k), ``b`` (k, l), of one float dtype.

    Returns
    -------
    mapping
        ``c`` (n, m, l).
    """
    a, b = tensors["a"], tensors["b"]
    n, m, depth = a.shape
    rows = a.reshape(n * m, depth)
    sums = [rows.new_zeros((n * m, b.shape[1])) for _ in range(2)]
    for index, start in enumerate(range(0, depth, TILE)):
        stop = start + TILE
        sums[index % 2] += torch.mm(rows[:, start:stop], b[start:stop])
    return {"c": (sums[0] + sums[1]).reshape(n, m, -1)}
