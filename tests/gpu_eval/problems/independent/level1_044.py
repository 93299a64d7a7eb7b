"""Problem 44 once more: AvgPool1d of kernel 8, stride 1, padding 4, zeros counted as terms."""

import torch

from gpu_eval.problems.definition import Substrate, Tensors
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer

KERNEL, STRIDE, PADDING = 8, 1, 4


def reference(tensors: Tensors) -> Tensors:
    """Lay zeros around each row, and divide the sum of every window by its full width."""
    x = tensors["x"]
    margin = x.new_zeros((*x.shape[:2], PADDING))
    windows = torch.cat((margin, x, margin), dim=2).unfold(2, KERNEL, STRIDE)
    return {"y": windows.sum(dim=3) / KERNEL}


SUBSTRATE = Substrate(
    name="independent",
    source="level1_044.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="window_means",
                grid=("ceil_div(length + 1, 256)", "channels", "batch"),
                block=("256", "1", "1"),
                arguments=(pointer("x"), pointer("y"), int32("length")),
            ),
        )
    ),
)
