"""Blind control of problem 91, the cumulative sum from the end of each row."""

import torch

from gpu_eval.problems.definition import Tensors

CHUNK = 512


def control(tensors: Tensors) -> Tensors:
    """Scan chunks of 512 in doubling steps, from the last chunk to the first, with a carry.

    Written from the contract alone: in each step an element adds the one 1, 2, 4, ... to its
    right (Hillis and Steele), as a block does in shared memory; the chunk's first result then
    holds its whole sum, and the carry goes on top.

    Parameters
    ----------
    tensors : mapping
        ``x`` (rows, cols), of a float dtype.

    Returns
    -------
    mapping
        ``y`` (rows, cols): element j is the sum of x from j to the end.
    """
    x = tensors["x"]
    y = torch.empty_like(x)
    carry = x.new_zeros((x.shape[0], 1))
    for start in reversed(range(0, x.shape[1], CHUNK)):
        scan = x[:, start : start + CHUNK].clone()
        step = 1
        while step < scan.shape[1]:
            # Another tensor: the right-hand side must see the values before this step.
            scan = torch.cat((scan[:, :-step] + scan[:, step:], scan[:, -step:]), dim=1)
            step *= 2
        scan += carry
        y[:, start : start + CHUNK] = scan
        carry = scan[:, :1].clone()
    return {"y": y}
