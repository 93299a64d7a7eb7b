"""Blind control of problem 39, rows divided by their Euclidean norm."""

import torch

from gpu_eval.problems.definition import Tensors

LANES = 256


def control(tensors: Tensors) -> Tensors:
    """Sum squares in 256 lanes, add the lanes in a tree, multiply by the reciprocal root.

    Written from the contract alone. The contract adds no epsilon: a row of zeros is 0 times
    infinity here and 0 over 0 there, no number either way.

    Parameters
    ----------
    tensors : mapping
        ``x`` (rows, cols), of a float dtype.

    Returns
    -------
    mapping
        ``y`` (rows, cols).
    """
    x = tensors["x"]
    lanes = x.new_zeros((x.shape[0], LANES))
    for start in range(0, x.shape[1], LANES):
        part = x[:, start : start + LANES]
        lanes[:, : part.shape[1]] += part * part
    while lanes.shape[1] > 1:
        half = lanes.shape[1] // 2
        lanes = lanes[:, :half] + lanes[:, half:]
    return {"y": x * torch.rsqrt(lanes)}
