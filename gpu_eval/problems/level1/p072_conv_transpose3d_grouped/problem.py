"""KernelBench level 1, problem 72: a grouped 3 x 5 x 7 transposed convolution with stride 2."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.convolution_transposed import Axis, TransposedConvolution
from gpu_eval.problems.families.convolution_transposed_problem import (
    ONE,
    in_channels,
    integers,
    launch,
    out_channels,
    problem,
)
from gpu_eval.problems.plan import LaunchPlan, Repeat, int32, pointer

GROUPS = 4

# Blocks of 128 voxels, and of 4 x 4 steps of 2 outputs for 8 channels. An output of the depth may
# see two inputs: there are two at least.
OPERATION = TransposedConvolution(
    (
        Axis("depth", 12, kernel=3, stride=2, padding=1, output_padding=1, minimum=2),
        Axis("height", 24, kernel=5, stride=2, padding=2, output_padding=1, tile=4),
        Axis("width", 48, kernel=7, stride=2, padding=3, output_padding=1, tile=4),
    ),
    GROUPS,
)
TENSORS = (pointer("x"), pointer("weight"), pointer("y"))
SIZES = (
    *integers("group_in_channels depth height width"),
    *integers("group_out_channels out_depth out_height out_width"),
    *integers("kernel_depth kernel_height kernel_width"),
    *integers("stride_depth stride_height stride_width"),
    *integers("padding_depth padding_height padding_width"),
)

GATHER = Substrate(
    name="gather",
    source="gather.cu",
    headers=("deconv_source.cuh",),
    plan=LaunchPlan(
        steps=(
            launch(
                "conv_transpose3d_grouped_gather",
                (
                    "ceil_div(out_depth * out_height * out_width, 128)",
                    "groups * group_out_channels",
                    "batch",
                ),
                ("128", ONE, ONE),
                *TENSORS,
                *SIZES,
                *integers("groups"),
            ),
        )
    ),
)

PHASE = launch(
    "conv_transpose3d_phase",
    (
        "ceil_div(ceil_div(out_width - phase_width, stride_width), 4)",
        "ceil_div(ceil_div(out_height - phase_height, stride_height), 4)",
        "batch * ceil_div(out_channels, 8) * ceil_div(out_depth - phase_depth, stride_depth)",
    ),
    ("4", "4", "8"),
    *TENSORS,
    *SIZES,
    *integers("phase_depth phase_height phase_width"),
    int32("out_channels"),
)
PHASES = Substrate(
    name="phases",
    source="phases.cu",
    plan=LaunchPlan(
        steps=(
            Repeat(
                "phase_depth",
                "0",
                "stride_depth",
                (
                    Repeat(
                        "phase_height",
                        "0",
                        "stride_height",
                        (Repeat("phase_width", "0", "stride_width", (PHASE,)),),
                    ),
                ),
            ),
        )
    ),
)

PROBLEM = problem(
    72,
    "72_conv_transposed_3D_asymmetric_input_asymmetric_kernel___strided_padded_grouped_",
    OPERATION,
    batch=8,
    in_channels=in_channels(32, groups=GROUPS),
    out_channels=out_channels(32, tile=2, groups=GROUPS),
    substrates=(GATHER, PHASES),
    controls=OPERATION.controls(GATHER),
)
