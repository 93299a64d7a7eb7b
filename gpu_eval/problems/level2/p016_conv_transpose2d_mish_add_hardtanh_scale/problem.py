"""KernelBench level 2, problem 16: a transposed convolution, Mish, a number added, hardtanh."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Clamp,
    ConvTranspose,
    Scale,
    Shift,
    fused_problem,
    mish,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import (
    Launch,
    LaunchPlan,
    Repeat,
    Workspace,
    float32,
    int32,
    pointer,
)

ONE = "1"
OUTPUT = (int32("out_channels"), int32("out_height"), int32("out_width"))
EPILOGUE = (float32("add_value"), float32("scale"))

ROW_GATHER = Substrate(
    name="row-gather",
    source="row_gather.cu",
    headers=("fused_activations.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="deconv_rows_mish_hardtanh",
                grid=(
                    "ceil_div(out_width, 32)",
                    "ceil_div(out_height, 4)",
                    "batch * ceil_div(out_channels, 4)",
                ),
                block=("32", "4", ONE),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("y"),
                    int32("in_channels"),
                    int32("height"),
                    int32("width"),
                    *OUTPUT,
                    *EPILOGUE,
                ),
            ),
        )
    ),
)

COLUMNS = Substrate(
    name="columns",
    source="columns.cu",
    headers=("deconv_columns.cuh", "deconv_source.cuh", "fused_activations.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("columns", "out_channels * 9 * height * width"),),
        steps=(
            Repeat(
                "image",
                "0",
                "batch",
                (
                    Launch(
                        kernel="deconv_columns",
                        grid=(
                            "ceil_div(height * width, 16)",
                            "ceil_div(out_channels * 9, 16)",
                            ONE,
                        ),
                        block=("16", "16", ONE),
                        arguments=(
                            pointer("x"),
                            pointer("weight"),
                            pointer("columns"),
                            int32("image"),
                            int32("in_channels"),
                            int32("out_channels * 9"),
                            int32("height * width"),
                        ),
                    ),
                    Launch(
                        kernel="gather_mish_hardtanh",
                        grid=("ceil_div(out_channels * out_height * out_width, 512)", ONE, ONE),
                        block=("128", ONE, ONE),
                        arguments=(
                            pointer("columns"),
                            pointer("bias"),
                            pointer("y"),
                            int32("image"),
                            int32("height"),
                            int32("width"),
                            *OUTPUT,
                            *EPILOGUE,
                        ),
                    ),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    16,
    "16_ConvTranspose2d_Mish_Add_Hardtanh_Scaling",
    (
        ConvTranspose(2, 3, stride=2, padding=1, output_padding=1),
        mish(),
        Shift(0.5),
        Clamp(-1.0, 1.0),
        Scale(2.0),
    ),
    # 4 x 32 outputs a block come of 2 x 16 input pixels.
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 64, tile=4),
        parallel("height", 128, tile=2, minimum=2),
        parallel("width", 128, tile=16, minimum=2),
        parallel("out_channels", 64, tile=4),
    ),
    x=("batch", "in_channels", "height", "width"),
    scalars={"add_value": 0.5, "scale": 2.0},
    substrates=(ROW_GATHER, COLUMNS),
)
