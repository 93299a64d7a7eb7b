"""Blind control of problem 69, a transposed 2D convolution of stride 1 without padding."""

import torch

from gpu_eval.problems.definition import Tensors


def control(tensors: Tensors) -> Tensors:
    """Take one matrix product over the input channels a tap, and add it where the tap lands.

    Written from the contract alone: input pixel (i, j) reaches output pixel (i + r, j + s)
    through tap (r, s), so each tap is a pointwise convolution whose result lies shifted.

    Parameters
    ----------
    tensors : mapping
        ``x`` (batch, in_channels, height, width) and ``weight`` (in_channels, out_channels,
        kernel_height, kernel_width), of one float dtype.

    Returns
    -------
    mapping
        ``y`` (batch, out_channels, height + kernel_height - 1, width + kernel_width - 1).
    """
    x, weight = tensors["x"], tensors["weight"]
    batch, _, height, width = x.shape
    _, channels, taps_down, taps_across = weight.shape
    pixels = x.flatten(2)
    y = x.new_zeros((batch, channels, height + taps_down - 1, width + taps_across - 1))
    for r in range(taps_down):
        for s in range(taps_across):
            product = torch.matmul(weight[:, :, r, s].t(), pixels)
            y[:, :, r : r + height, s : s + width] += product.reshape(batch, channels, height, -1)
    return {"y": y}
