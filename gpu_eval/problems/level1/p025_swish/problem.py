"""KernelBench level 1, problem 25: Swish of a matrix, x times its logistic function."""

import torch

from gpu_eval.problems.definition import Substrate, Tensors
from gpu_eval.problems.families.elementwise import (
    ONE,
    control,
    elementwise,
    flat,
    in_double,
    logistic_by_expm1,
    logistic_by_quotient,
    logistic_by_size,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, When, int32, pointer


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    x = tensors["x"]
    return {"y": x * torch.sigmoid(x)}


ROWS = Substrate(
    name="rows",
    source="rows.cu",
    plan=LaunchPlan(
        steps=(
            When(
                # Else a row would not begin where a vector may.
                condition="cols % 4 == 0",
                steps=(
                    Launch(
                        kernel="swish_rows_vector",
                        grid=("ceil_div(cols // 4, 128)", "rows", ONE),
                        block=("128", ONE, ONE),
                        arguments=(pointer("x"), pointer("y"), int32("cols // 4")),
                    ),
                ),
                otherwise=(
                    Launch(
                        kernel="swish_rows_scalar",
                        grid=("ceil_div(cols, 128)", "rows", ONE),
                        block=("128", ONE, ONE),
                        arguments=(pointer("x"), pointer("y"), int32("cols")),
                    ),
                ),
            ),
        )
    ),
)

PROBLEM = elementwise(
    25,
    "25_Swish",
    reference,
    substrates=(
        ROWS,
        flat(
            "stable",
            "swish_stable",
            512,
            headers=("activation_sigmoid.cuh",),
            resident=True,
        ),
    ),
    controls=(
        control("size", "algorithm", lambda x: x * logistic_by_size(x)),
        control("quotient", "quotient", lambda x: x * logistic_by_quotient(x)),
        control("expm1", "expm1", lambda x: x * logistic_by_expm1(x)),
        control("division", "division", lambda x: x / (1 + torch.exp(-x))),
        in_double(reference),
    ),
    tiles=(1, 512),
)
