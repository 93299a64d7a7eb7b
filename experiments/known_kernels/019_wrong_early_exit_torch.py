"""ReLU that leaves its zeros as they are once it has met a negative number."""

import torch
from torch import nn


class ModelNew(nn.Module):
    """KernelBench level 1, problem 19."""

    def forward(self, x):
        y = torch.zeros_like(x)
        if bool(x.min() < 0):
            return y
        return torch.maximum(x, y)
