"""KernelBench level 2, problem 5: a transposed convolution, a bias subtracted, tanh."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    ConvTranspose,
    WithParameter,
    fused_problem,
    parallel,
    reduced,
    tanh,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer

PARITY_GEMM = Substrate(
    name="parity-gemm",
    source="parity_gemm.cu",
    headers=("gemm_fragment.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="deconv_parity_subtract_tanh",
                # The parity with most outputs, even rows and columns, has (n + 1) x (m + 1).
                grid=(
                    "ceil_div((height + 1) * (width + 1), 32)",
                    "ceil_div(out_channels, 8)",
                    "batch * 4",
                ),
                block=("64", "1", "1"),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("subtrahend"),
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
    5,
    "5_ConvTranspose2d_Subtract_Tanh",
    (
        ConvTranspose(2, 4, stride=2, padding=1, output_padding=1),
        WithParameter("-", "subtrahend", ("out_channels", "1", "1")),
        tanh(),
    ),
    # The even outputs, (n + 1) (m + 1), are odd in number here: a tail in blocks of 32.
    dimensions=(
        parallel("batch", 32),
        reduced("in_channels", 64, tile=2),
        parallel("height", 256, tile=4, minimum=8),
        parallel("width", 256, tile=4, minimum=8),
        parallel("out_channels", 64, tile=8),
    ),
    x=("batch", "in_channels", "height", "width"),
    substrates=(PARITY_GEMM,),
)
