"""KernelBench level 2, problem 57: a 3 x 3 convolution, ReLU, then hard swish written out."""

from torch import Tensor
from torch.nn import functional

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Conv,
    Pointwise,
    fused_problem,
    parallel,
    reduced,
    relu,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer


def gate(h: Tensor) -> Tensor:
    """Return h clamp((h + 3) / 6, 0, 1)."""
    return h * ((h + 3) / 6).clamp(0, 1)


FILTERS_IN_SHARED = Substrate(
    name="filters-in-shared",
    source="filters_in_shared.cu",
    headers=("fused_activations.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv2d_relu_gate",
                grid=(
                    "ceil_div(out_width, 16)",
                    "ceil_div(out_height, 8)",
                    "batch * ceil_div(out_channels, 8)",
                ),
                block=("16", "8", "1"),
                shared="in_channels * 9 * 8 * 4",
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("y"),
                    int32("in_channels"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                    int32("out_height"),
                    int32("out_width"),
                ),
            ),
        )
    ),
)

PROBLEM = fused_problem(
    57,
    "57_Conv2d_ReLU_HardSwish",
    (Conv(2, 3), relu(), Pointwise(gate, functional.hardswish)),
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 8),
        parallel("height", 128, tile=8, minimum=3),
        parallel("width", 128, tile=16, minimum=3),
        parallel("out_channels", 64, tile=8),
    ),
    x=("batch", "in_channels", "height", "width"),
    substrates=(FILTERS_IN_SHARED,),
)
