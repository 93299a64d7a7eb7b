import torch
from torch import nn


def forward_fn(x, weight, bias, eps=1e-5):
    return nn.functional.layer_norm(x, weight.shape, weight, bias, eps)


class Model(nn.Module):
    def __init__(self, num_features: int = 4, dim1: int = 8, dim2: int = 8):
        super(Model, self).__init__()
        self.weight = nn.Parameter(torch.ones(num_features, dim1, dim2))
        self.bias = nn.Parameter(torch.zeros(num_features, dim1, dim2))

    def forward(self, x, fn=forward_fn):
        return fn(x, self.weight, self.bias)


def get_inputs(batch_size: int = 4, num_features: int = 4, dim1: int = 8, dim2: int = 8):
    return [torch.randn(batch_size, num_features, dim1, dim2)]


input_names = ["x"]
