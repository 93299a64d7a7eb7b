"""A matrix product by rows of blocks."""

import torch
from torch import nn


class ModelNew(nn.Module):
    """KernelBench level 1, problem 1."""

    def forward(self, a, b):
        return torch.cat([torch.matmul(rows, b) for rows in a.split(max(a.shape[0] // 4, 1))])
