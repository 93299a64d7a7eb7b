"""LayerNorm in two passes."""

import torch
from torch import nn


class ModelNew(nn.Module):
    """KernelBench level 1, problem 40."""

    def __init__(self, normalized_shape):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, x):
        axes = tuple(range(1, x.dim()))
        mean = x.mean(axes, keepdim=True)
        variance = (x - mean).square().mean(axes, keepdim=True)
        return (x - mean) * torch.rsqrt(variance + self.ln.eps) * self.ln.weight + self.ln.bias
