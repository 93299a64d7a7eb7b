"""Softmax about each row's maximum, in three passes, one row a program."""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def softmax(x, y, length, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * length
    at = tl.arange(0, BLOCK)
    most = tl.full((BLOCK,), float("-inf"), dtype=tl.float32)
    for start in range(0, length, BLOCK):
        value = tl.load(x + row + start + at, mask=start + at < length, other=float("-inf"))
        most = tl.maximum(most, value)
    most_of_row = tl.max(most, axis=0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, length, BLOCK):
        value = tl.load(x + row + start + at, mask=start + at < length, other=float("-inf"))
        total += tl.exp(value - most_of_row)
    scale = 1.0 / tl.sum(total, axis=0)
    for start in range(0, length, BLOCK):
        inside = start + at < length
        value = tl.load(x + row + start + at, mask=inside, other=float("-inf"))
        tl.store(y + row + start + at, tl.exp(value - most_of_row) * scale, mask=inside)


class ModelNew(nn.Module):
    """KernelBench level 1, problem 23."""

    def forward(self, x):
        y = torch.empty_like(x)
        softmax[(x.shape[0],)](x.contiguous(), y, x.shape[1], BLOCK=4096)
        return y
