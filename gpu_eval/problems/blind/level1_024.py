"""Blind control of problem 24, the logarithm of the softmax."""

import torch

from gpu_eval.problems.definition import Tensors

LANES = 256


def control(tensors: Tensors) -> Tensors:
    """Keep a maximum and a rescaled sum in each of 256 lanes, and merge the lanes in a tree.

    Written from the contract alone: the one-pass ("online") form that a block of 256 threads
    takes, each thread striding through its row. Lanes start from the lowest finite number, not
    from minus infinity, whose difference with itself is no number.

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
    peak = x.new_full((x.shape[0], LANES), torch.finfo(x.dtype).min)
    total = torch.zeros_like(peak)
    for start in range(0, x.shape[1], LANES):
        part = x[:, start : start + LANES]
        width = part.shape[1]
        old = peak[:, :width]
        new = torch.maximum(old, part)
        total[:, :width] = total[:, :width] * torch.exp(old - new) + torch.exp(part - new)
        peak[:, :width] = new
    while peak.shape[1] > 1:
        half = peak.shape[1] // 2
        left, right = peak[:, :half], peak[:, half:]
        new = torch.maximum(left, right)
        total = total[:, :half] * torch.exp(left - new) + total[:, half:] * torch.exp(right - new)
        peak = new
    return {"y": x - peak - torch.log(total)}
