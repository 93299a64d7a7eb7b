"""KernelBench level 2, problem 89: a transposed convolution, max-pool, softmax, swish, maximum."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    ConvTranspose,
    Pool,
    Reduce,
    Softmax,
    WithParameter,
    fused_problem,
    parallel,
    reduced,
    swish,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer

LANE_OCTETS = Substrate(
    name="lane-octets",
    source="lane_octets.cu",
    headers=("deconv_octet.cuh", "fused_activations.cuh", "limits.cuh", "pool_nan.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="deconv_max_softmax_max",
                grid=("ceil_div(depth * height * width, 64)", "batch", "1"),
                block=("128", "1", "1"),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("subtrahend"),
                    pointer("y"),
                    int32("in_channels"),
                    int32("depth"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                ),
                # All weights, and 16 voxels of all channels.
                shared="(in_channels * 27 + 16) * out_channels * 4",
            ),
        )
    ),
)

PROBLEM = fused_problem(
    89,
    "89_ConvTranspose3d_MaxPool_Softmax_Subtract_Swish_Max",
    (
        ConvTranspose(3, 3, stride=2, padding=1, output_padding=1),
        Pool("max", 3, 2, stride=2),
        Softmax((1,)),
        WithParameter("-", "subtrahend", ("out_channels",), axis=1),
        swish(),
        Reduce("max", (1,), keep=False),
    ),
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 3),
        parallel("depth", 16, tile=2, minimum=2),
        parallel("height", 32, tile=4, minimum=2),
        parallel("width", 32, tile=4, minimum=2),
        reduced("out_channels", 16, tile=8),
    ),
    x=("batch", "in_channels", "depth", "height", "width"),
    substrates=(LANE_OCTETS,),
)
