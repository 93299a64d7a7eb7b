import torch
from torch import nn


class Model(nn.Module):
    """A convolution without bias: another problem of the same name."""

    def __init__(self, channels: int):
        super().__init__()
        self.conv2d = nn.Conv2d(3, channels, 3, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv2d(x)


def get_inputs():
    return [torch.rand(2, 3, 16, 16)]


def get_init_inputs():
    return [4]
