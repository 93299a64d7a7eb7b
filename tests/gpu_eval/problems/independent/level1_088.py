"""Problem 88 once more: the GELU of minGPT, by the logistic function."""

import math

import torch

from gpu_eval.problems.definition import Substrate, Tensors
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer


def reference(tensors: Tensors) -> Tensors:
    """Return x / (1 + exp(-2 u)), for (1 + tanh u) / 2 is the logistic function of 2 u."""
    x = tensors["x"]
    u = math.sqrt(2 / math.pi) * x * (1 + 0.044715 * x * x)
    return {"y": x / (1 + torch.exp(-2 * u))}


SUBSTRATE = Substrate(
    name="independent",
    source="level1_088.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="gelu_of_mingpt",
                grid=("min(ceil_div(rows * cols, 256), 8192)", "1", "1"),
                block=("256", "1", "1"),
                arguments=(pointer("x"), pointer("y"), int32("rows * cols")),
            ),
        )
    ),
)
