"""KernelBench level 2, problem 49: a transposed convolution, softmax of the channels, sigmoid."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    ConvTranspose,
    Softmax,
    fused_problem,
    parallel,
    reduced,
    sigmoid,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer

ONE = "1"
VOXELS = "out_depth * out_height * out_width"

CLASS_PRODUCT = Substrate(
    name="class-product",
    source="class_product.cu",
    headers=("fused_activations.cuh", "limits.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="deconv_class_softmax_sigmoid",
                grid=("ceil_div(depth * height * width, 32)", "8", "batch"),
                block=("32", "4", ONE),
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
                ),
                shared="out_channels * 32 * 4",
            ),
        )
    ),
)

IN_PLACE = Substrate(
    name="in-place",
    source="in_place.cu",
    headers=("deconv_source.cuh", "fused_activations.cuh", "limits.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="deconv3d_logits",
                grid=(f"ceil_div({VOXELS}, 128)", "out_channels", "batch"),
                block=("128", ONE, ONE),
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
                shared="in_channels * 27 * 4",
            ),
            Launch(
                kernel="softmax_sigmoid_in_place",
                grid=(f"ceil_div({VOXELS}, 64)", "batch", ONE),
                block=("64", ONE, ONE),
                arguments=(pointer("y"), int32("out_channels"), int32(VOXELS)),
            ),
        )
    ),
)

PROBLEM = fused_problem(
    49,
    "49_ConvTranspose3d_Softmax_Sigmoid",
    (ConvTranspose(3, 3, stride=2, padding=1, output_padding=1), Softmax((1,)), sigmoid()),
    # 2 x 4 x 4 input voxels are the 32 of a block.
    dimensions=(
        parallel("batch", 16),
        reduced("in_channels", 32, tile=16),
        parallel("depth", 16, tile=2, minimum=2),
        parallel("height", 32, tile=4, minimum=2),
        parallel("width", 32, tile=4, minimum=2),
        reduced("out_channels", 64, tile=16),
    ),
    x=("batch", "in_channels", "depth", "height", "width"),
    substrates=(CLASS_PRODUCT, IN_PLACE),
)
