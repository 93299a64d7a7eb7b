"""KernelBench level 1, problem 54: a 3 x 3 x 3 convolution of 64 x 64 x 64 voxels."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.convolution import Convolution
from gpu_eval.problems.families.convolution_problem import (
    convolution_problem,
    fixed,
    parallel,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, int32, pointer

DIRECT_ARGUMENTS = (
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

TABLE_ARGUMENTS = (
    pointer("offsets"),
    int32("in_channels * kernel * kernel * kernel"),
    int32("kernel"),
    int32("depth"),
    int32("height"),
    int32("width"),
)

PRODUCT_ARGUMENTS = (
    pointer("x"),
    pointer("weight"),
    pointer("offsets"),
    pointer("y"),
    int32("in_channels * kernel * kernel * kernel"),
    int32("in_channels * depth * height * width"),
    int32("height"),
    int32("width"),
    int32("out_channels"),
    int32("out_depth"),
    int32("out_height"),
    int32("out_width"),
)

DIRECT = Substrate(
    name="direct",
    source="direct.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv3d_direct",
                grid=(
                    "ceil_div(out_width, 8)",
                    "ceil_div(out_height, 8)",
                    "batch * ceil_div(out_channels, 8) * ceil_div(out_depth, 2)",
                ),
                block=("8", "8", "2"),
                arguments=DIRECT_ARGUMENTS,
            ),
        ),
    ),
)

OFFSET_TABLE = Substrate(
    name="offset-table",
    source="offset_table.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="tabulate_offsets",
                grid=("ceil_div(in_channels * kernel * kernel * kernel, 64)", "1", "1"),
                block=("64", "1", "1"),
                arguments=TABLE_ARGUMENTS,
            ),
            Launch(
                kernel="conv3d_by_table",
                grid=(
                    "ceil_div(out_depth * out_height * out_width, 32)",
                    "ceil_div(out_channels, 16)",
                    "batch",
                ),
                block=("128", "1", "1"),
                arguments=PRODUCT_ARGUMENTS,
            ),
        ),
        workspaces=(Workspace("offsets", "in_channels * kernel * kernel * kernel"),),
    ),
)

PROBLEM = convolution_problem(
    Convolution((3, 3, 3)),
    number=54,
    name="54_conv_standard_3D__square_input__square_kernel",
    axes=("depth", "height", "width"),
    kernel=("kernel", "kernel", "kernel"),
    # With all axes multiples of 8, whatever their size, 24 of the last 32 voxels are left over.
    dimensions=(
        parallel("batch", 16),
        fixed("in_channels", 3),
        parallel("depth", 64, tile=8, minimum=3),
        parallel("height", 64, tile=8, minimum=3),
        parallel("width", 64, tile=8, minimum=3),
        parallel("out_channels", 64, tile=16),
        fixed("kernel", 3),
    ),
    derived={
        "out_depth": "depth - kernel + 1",
        "out_height": "height - kernel + 1",
        "out_width": "width - kernel + 1",
    },
    substrates=(
        DIRECT,
        OFFSET_TABLE,
    ),
)
