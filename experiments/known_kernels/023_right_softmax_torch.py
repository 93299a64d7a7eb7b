"""Softmax about each row's maximum."""

from torch import nn


class ModelNew(nn.Module):
    """KernelBench level 1, problem 23."""

    def forward(self, x):
        y = (x - x.amax(1, keepdim=True)).exp_()
        return y.div_(y.sum(1, keepdim=True))
