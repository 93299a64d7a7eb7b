import torch
from torch import nn

BATCH, CHANNELS, HEIGHT, WIDTH = 2, 4, 37, 41
KERNEL, STRIDE, PADDING, DILATION = 4, 1, 1, 1


class Model(nn.Module):
    """The maximum of each window."""

    def __init__(self, kernel_size: int, stride: int, padding: int, dilation: int):
        super().__init__()
        self.pool = nn.MaxPool2d(kernel_size, stride, padding, dilation)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.pool(x)


def get_inputs():
    return [torch.rand(BATCH, CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return [KERNEL, STRIDE, PADDING, DILATION]
