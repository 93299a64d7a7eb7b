"""KernelBench level 2, problem 26: a transposed convolution, an input added, times its hardswish.

The benchmark's model holds a bias of its own besides that it never reads.
"""

from torch import Tensor
from torch.nn import functional

from gpu_eval.problems.definition import Substrate, TensorSpec
from gpu_eval.problems.families.fused import (
    ConvTranspose,
    Pointwise,
    Residual,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer

QUADS = "batch * out_channels * out_depth * out_height * out_width // 4"

OCTETS = Substrate(
    name="octets",
    source="octets.cu",
    headers=("deconv_octet.cuh", "fused_activations.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="deconv_octets_add_hardswish",
                grid=("ceil_div(depth * height * width, 64)", "out_channels", "batch"),
                block=("64", "1", "1"),
                arguments=(
                    pointer("x"),
                    pointer("add_input"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("y"),
                    int32("in_channels"),
                    int32("depth"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                ),
            ),
        )
    ),
)

TWO_LAUNCHES = Substrate(
    name="two-launches",
    source="two_launches.cu",
    headers=("deconv_source.cuh", "fused_activations.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="deconv3d_gather",
                grid=(
                    "ceil_div(out_depth * out_height * out_width, 128)",
                    "ceil_div(out_channels, 4)",
                    "batch",
                ),
                block=("128", "1", "1"),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("y"),
                    int32("in_channels"),
                    int32("depth"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                    int32("out_depth"),
                    int32("out_height"),
                    int32("out_width"),
                ),
            ),
            Launch(
                kernel="add_times_hardswish",
                # Every thread takes four quads.
                grid=(f"ceil_div({QUADS}, 512)", "1", "1"),
                block=("128", "1", "1"),
                arguments=(pointer("y"), pointer("add_input"), int32(QUADS)),
            ),
        )
    ),
)


def times_hardswish(h: Tensor) -> Tensor:
    """Return h hardswish(h) as the benchmark writes it."""
    return h * functional.hardswish(h)


def square_times_ramp(h: Tensor) -> Tensor:
    """Return the same by another order of products."""
    return h * h * ((h + 3).clamp(0, 6) / 6)


def terms(size: Tensor) -> Tensor:
    """Return what h (h + 3) h / 6 adds up at most, of |h|."""
    return size * size * ((size + 3) / 6).clamp(max=1)


PROBLEM = fused_problem(
    26,
    "26_ConvTranspose3d_Add_HardSwish",
    (
        ConvTranspose(3, 3, stride=2, padding=1, output_padding=1),
        Residual("+", "add_input"),
        Pointwise(times_hardswish, square_times_ramp, terms),
    ),
    # 2 x 4 x 8 input voxels fill a block.
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 32, tile=8),
        parallel("depth", 16, tile=2, minimum=2),
        parallel("height", 16, tile=4, minimum=2),
        parallel("width", 16, tile=8, minimum=2),
        parallel("out_channels", 64),
    ),
    x=("batch", "in_channels", "depth", "height", "width"),
    inputs=(
        TensorSpec("add_input", ("batch", "out_channels", "out_depth", "out_height", "out_width")),
    ),
    substrates=(OCTETS, TWO_LAUNCHES),
)
