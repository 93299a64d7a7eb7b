"""KernelBench level 2, problem 91: a transposed convolution, channel softmax, a bias, sigmoid."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    ConvTranspose,
    Scale,
    Softmax,
    WithParameter,
    fused_problem,
    parallel,
    reduced,
    sigmoid,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, float32, int32, pointer

PIXEL_COLUMNS = Substrate(
    name="pixel-columns",
    source="pixel_columns.cu",
    headers=("deconv_source.cuh", "fused_activations.cuh", "limits.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="deconv_softmax_sigmoid",
                grid=("ceil_div(out_height * out_width, 16)", "batch", "1"),
                block=("16", "8", "1"),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("added"),
                    pointer("y"),
                    int32("in_channels"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                    int32("out_height"),
                    int32("out_width"),
                    float32("scaling"),
                ),
                shared="out_channels * 16 * 4",
            ),
        )
    ),
)

PROBLEM = fused_problem(
    91,
    "91_ConvTranspose2d_Softmax_BiasAdd_Scaling_Sigmoid",
    (
        ConvTranspose(2, 4, stride=2, padding=1, output_padding=1),
        Softmax((1,)),
        WithParameter("+", "added", ("out_channels", "1", "1")),
        Scale(2.0),
        sigmoid(),
    ),
    # 2 n + 1 outputs an axis, an odd number of pixels: a tail in blocks of 16.
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 64),
        parallel("height", 64, tile=4, minimum=2),
        parallel("width", 64, tile=4, minimum=2),
        reduced("out_channels", 128, tile=8),
    ),
    x=("batch", "in_channels", "height", "width"),
    scalars={"scaling": 2.0},
    substrates=(PIXEL_COLUMNS,),
)
