"""KernelBench level 1, problem 21: the logistic function of a matrix."""

import torch

from gpu_eval.problems.definition import Tensors
from gpu_eval.problems.families.elementwise import (
    control,
    elementwise,
    flat,
    in_double,
    logistic_by_expm1,
    logistic_by_quotient,
    logistic_by_size,
)


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"y": torch.sigmoid(tensors["x"])}


PROBLEM = elementwise(
    21,
    "21_Sigmoid",
    reference,
    substrates=(
        # Tiles of 512: where the grid is not full, each block handles two.
        flat("unrolled", "sigmoid_unrolled", 1024, resident=True),
        flat("pairs", "sigmoid_pairs", 256, headers=("activation_sigmoid.cuh",)),
    ),
    controls=(
        control("size", "algorithm", logistic_by_size),
        control("quotient", "quotient", logistic_by_quotient),
        control("expm1", "expm1", logistic_by_expm1),
        in_double(reference),
    ),
    tiles=(4, 256),
)
