import torch
from torch import nn

BATCH, CHANNELS, SIZE = 2, 3, 64


class Model(nn.Module):
    """A convolution with 96 kernels of 11 by 11."""

    def __init__(self, num_classes: int = 1000):
        super().__init__()
        self.conv = nn.Conv2d(CHANNELS, 96, kernel_size=11, stride=4, padding=2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs():
    return [torch.rand(BATCH, CHANNELS, SIZE, SIZE)]


def get_init_inputs():
    return [1000]
