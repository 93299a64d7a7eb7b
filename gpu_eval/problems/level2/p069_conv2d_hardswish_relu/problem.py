"""KernelBench level 2, problem 69: a 3 x 3 convolution, hard swish, ReLU."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Conv,
    fused_problem,
    hardswish,
    parallel,
    reduced,
    relu,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Repeat, Workspace, int32, int64, pointer

OUTPUTS = "batch * out_channels * out_height * out_width"
PIXELS = "out_height * out_width"
TERMS = "in_channels * 9"

GRID_STRIDE = Substrate(
    name="grid-stride",
    source="grid_stride.cu",
    headers=("fused_activations.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv2d_hardswish_relu",
                # Four outputs a thread, more where that would be over sixteen blocks for each of
                # 132 multiprocessors.
                grid=(f"min(ceil_div({OUTPUTS}, 512), 2112)", "1", "1"),
                block=("128", "1", "1"),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("y"),
                    int64(OUTPUTS),
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

COLUMNS = Substrate(
    name="columns",
    source="columns.cu",
    headers=("fused_activations.cuh", "gemm_fragment.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("columns", f"{TERMS} * {PIXELS}"),),
        steps=(
            Repeat(
                "image",
                "0",
                "batch",
                (
                    Launch(
                        kernel="image_to_columns",
                        grid=(f"ceil_div({PIXELS}, 128)", "in_channels", "1"),
                        block=("128", "1", "1"),
                        arguments=(
                            pointer("x"),
                            pointer("columns"),
                            int32("image"),
                            int32("in_channels"),
                            int32("height"),
                            int32("width"),
                            int32("out_height"),
                            int32("out_width"),
                        ),
                    ),
                    Launch(
                        kernel="columns_hardswish_relu",
                        grid=(f"ceil_div({PIXELS}, 64)", "ceil_div(out_channels, 16)", "1"),
                        block=("64", "1", "1"),
                        arguments=(
                            pointer("weight"),
                            pointer("columns"),
                            pointer("bias"),
                            pointer("y"),
                            int32("image"),
                            int32(TERMS),
                            int32("out_channels"),
                            int32(PIXELS),
                        ),
                    ),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    69,
    "69_Conv2d_HardSwish_ReLU",
    (Conv(2, 3), hardswish(), relu()),
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 8),
        parallel("height", 128, tile=8, minimum=3),
        parallel("width", 128, tile=8, minimum=3),
        parallel("out_channels", 64, tile=16),
    ),
    x=("batch", "in_channels", "height", "width"),
    substrates=(GRID_STRIDE, COLUMNS),
)
