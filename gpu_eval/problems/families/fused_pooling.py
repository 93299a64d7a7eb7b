"""The stage of fused problems that pools images, or rows of a matrix."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from gpu_eval.problems.definition import Tensors
from gpu_eval.problems.families.fused_stages import Bound, Shape, Stage, Trace
from gpu_eval.problems.families.pooling import Window
from gpu_eval.problems.orders import Order, Terms

_MAX = {1: functional.max_pool1d, 2: functional.max_pool2d, 3: functional.max_pool3d}
_AVERAGE = {1: functional.avg_pool1d, 2: functional.avg_pool2d, 3: functional.avg_pool3d}


@dataclass(frozen=True)
class Pool(Stage):
    """Max or average pooling with windows of one size along all of the last axes.

    Attributes
    ----------
    operation : str
        ``max`` or ``mean``.
    rank : int
        Axes of an image; 1: the last one of a matrix, which the benchmark unsqueezes first.
    kernel, stride, padding : int
        Stride 0: the kernel's.
    prefix : str
        Derived sizes are called ``<prefix>_<axis>``; one stage needs other words than the next.
    """

    operation: str
    rank: int
    kernel: int
    stride: int = 0
    padding: int = 0
    prefix: str = "pool"

    def __post_init__(self) -> None:
        object.__setattr__(self, "exact", self.operation == "max")
        object.__setattr__(self, "sums", self.operation == "mean")

    @property
    def window(self) -> Window:
        """The window."""
        return Window(self.rank, self.kernel, self.stride or self.kernel, self.padding)

    def shape(self, shape: Shape, trace: Trace) -> Shape:
        pooled = []
        for size in shape[-self.rank :]:
            name = f"{self.prefix}_{size.rpartition('_')[2]}"
            around = f"{size} + {2 * self.padding} - {self.kernel}"
            trace.derived[name] = f"({around}) // {self.stride or self.kernel} + 1"
            pooled.append(name)
        return (*shape[: -self.rank], *pooled)

    def terms(self, shape: Shape, trace: Trace) -> str:
        return str(self.kernel**self.rank) if self.sums else ""

    def apply(self, h: Tensor, tensors: Tensors) -> Tensor:
        image = h.unsqueeze(1) if self.rank == 1 else h
        pool = _MAX if self.operation == "max" else _AVERAGE
        y: Tensor = pool[self.rank](image, self.kernel, self.stride or self.kernel, self.padding)
        return y.squeeze(1) if self.rank == 1 else y

    def in_order(self, h: Tensor, tensors: Tensors, order: Order) -> Tensor:
        if self.operation == "max":
            return self.apply(h, tensors)
        window = self.window
        taps = torch.stack(window.taps(window.padded(h, 0.0)))
        return order(Terms(taps), window.size) / window.size

    def otherwise(self, h: Tensor, tensors: Tensors) -> Tensor:
        window = self.window
        if self.operation == "max":
            return window.unfolded(window.padded(h, float("-inf"))).amax(dim=0)
        return window.unfolded(window.padded(h, 0.0)).sum(dim=0) * (1 / window.size)

    def bound(self, b: Bound, tensors: Tensors) -> Bound:
        value, size = self.apply(b.value, tensors), self.apply(b.size, tensors)
        if self.operation == "max":
            return b.onward(value, size, low=b.low, high=b.high)
        count = self.kernel**self.rank
        own = math.sqrt(count) * self.apply(b.value.abs(), tensors)
        return b.onward(value, size + own, terms=count)
