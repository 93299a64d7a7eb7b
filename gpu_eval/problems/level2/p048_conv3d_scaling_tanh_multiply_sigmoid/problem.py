"""KernelBench level 2, problem 48: a convolution, a factor, tanh, another factor, a sigmoid.

The benchmark calls the second factor a bias; it multiplies.
"""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Conv,
    WithParameter,
    fused_problem,
    parallel,
    reduced,
    sigmoid,
    tanh,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer

CHANNELS = ("out_channels", "1", "1", "1")

FILTER_QUADS = Substrate(
    name="filter-quads",
    source="filter_quads.cu",
    headers=("fused_activations.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv3d_tanh_sigmoid",
                grid=(
                    "ceil_div(out_width, 16)",
                    "ceil_div(out_height, 8)",
                    "batch * ceil_div(out_channels, 8) * out_depth",
                ),
                block=("16", "8", "1"),
                # 27 taps of eight channels.
                shared="in_channels * 27 * 8 * 4",
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("scale"),
                    pointer("factor"),
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
        )
    ),
)

PROBLEM = fused_problem(
    48,
    "48_Conv3d_Scaling_Tanh_Multiply_Sigmoid",
    (
        Conv(3, 3),
        WithParameter("*", "scale", CHANNELS),
        tanh(),
        WithParameter("*", "factor", CHANNELS),
        sigmoid(),
    ),
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 3),
        parallel("depth", 16, minimum=3),
        parallel("height", 64, tile=8, minimum=3),
        parallel("width", 64, tile=16, minimum=3),
        parallel("out_channels", 16, tile=8),
    ),
    x=("batch", "in_channels", "depth", "height", "width"),
    substrates=(FILTER_QUADS,),
)
