"""KernelBench level 1, problem 66: a 3 x 5 x 7 convolution of flat volumes, 16 x 128 x 128."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.convolution import Convolution
from gpu_eval.problems.families.convolution_problem import (
    convolution_problem,
    fixed,
    parallel,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer

SLAB_ARGUMENTS = (
    pointer("x"),
    pointer("weight"),
    pointer("y"),
    int32("in_channels"),
    int32("depth"),
    int32("height"),
    int32("width"),
    int32("out_channels"),
    int32("out_depth"),
    int32("out_height"),
    int32("out_width"),
)

MARCHING_ARGUMENTS = (
    pointer("x"),
    pointer("weight"),
    pointer("y"),
    int32("depth"),
    int32("height"),
    int32("width"),
    int32("out_channels"),
    int32("out_depth"),
    int32("out_height"),
    int32("out_width"),
    int32("kernel_height"),
    int32("kernel_width"),
)

HALO_SLAB = Substrate(
    name="halo-slab",
    source="halo_slab.cu",
    headers=("conv_stage.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv3d_halo_slab",
                grid=(
                    "ceil_div(out_width, 16)",
                    "ceil_div(out_height, 8)",
                    "batch * ceil_div(out_channels, 12) * out_depth",
                ),
                block=("16", "8", "1"),
                arguments=SLAB_ARGUMENTS,
            ),
        ),
    ),
)

MARCHING = Substrate(
    name="marching",
    source="marching.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv3d_marching",
                grid=("ceil_div(out_width, 16)", "ceil_div(out_height, 8)", "batch * out_channels"),
                block=("16", "8", "1"),
                shared="4 * in_channels * kernel_depth * kernel_height * kernel_width",
                arguments=MARCHING_ARGUMENTS,
            ),
        ),
    ),
)

PROBLEM = convolution_problem(
    Convolution((3, 5, 7)),
    number=66,
    name="66_conv_standard_3D__asymmetric_input__asymmetric_kernel",
    axes=("depth", "height", "width"),
    kernel=("kernel_depth", "kernel_height", "kernel_width"),
    dimensions=(
        parallel("batch", 8),
        fixed("in_channels", 3),
        parallel("depth", 16, minimum=5),
        parallel("height", 128, tile=8, minimum=5),
        parallel("width", 128, tile=16, minimum=7),
        parallel("out_channels", 64, tile=12),
        fixed("kernel_depth", 3),
        fixed("kernel_height", 5),
        fixed("kernel_width", 7),
    ),
    derived={
        "out_depth": "depth - kernel_depth + 1",
        "out_height": "height - kernel_height + 1",
        "out_width": "width - kernel_width + 1",
    },
    substrates=(
        HALO_SLAB,
        MARCHING,
    ),
)
