"""KernelBench level 2, problem 12: a linear layer, scaled, then LeakyReLU."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    LeakyRelu,
    Linear,
    Scale,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

ONE = "1"
SPLITS = "4"
FACTORS = (pointer("x"), pointer("weight"))
SIZES = (int32("batch"), int32("out_features"), int32("in_features"))
EPILOGUE = (float32("multiplier"), float32("negative_slope"))

REGISTERS = Substrate(
    name="registers",
    source="registers.cu",
    headers=("gemm_nt_stage.cuh", "gemm_fragment.cuh", "fused_activations.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="linear_scale_leaky",
                grid=("ceil_div(out_features, 32)", "ceil_div(batch, 32)", ONE),
                block=("8", "8", ONE),
                arguments=(*FACTORS, pointer("bias"), pointer("y"), *SIZES, *EPILOGUE),
            ),
        )
    ),
)

SPLIT_K = Substrate(
    name="split-k",
    source="split_k.cu",
    plan=LaunchPlan(
        workspaces=(Workspace("partial", f"{SPLITS} * batch * out_features"),),
        steps=(
            Launch(
                kernel="linear_partial",
                grid=("ceil_div(out_features, 16)", "ceil_div(batch, 16)", SPLITS),
                block=("16", "16", ONE),
                arguments=(
                    *FACTORS,
                    pointer("partial"),
                    *SIZES,
                    int32(f"ceil_div(in_features, {SPLITS})"),
                ),
            ),
            Launch(
                kernel="combine_scale_leaky",
                grid=("ceil_div(batch * out_features, 128)", ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("partial"),
                    pointer("bias"),
                    pointer("y"),
                    int32("batch * out_features"),
                    int32("out_features"),
                    int32(SPLITS),
                    *EPILOGUE,
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    12,
    "12_Gemm_Multiply_LeakyReLU",
    (Linear(), Scale(2.0), LeakyRelu(0.1)),
    dimensions=(
        parallel("batch", 1024, tile=32),
        reduced("in_features", 8192, tile=16),
        parallel("out_features", 8192, tile=32),
    ),
    x=("batch", "in_features"),
    scalars={"multiplier": 2.0, "negative_slope": 0.1},
    substrates=(REGISTERS, SPLIT_K),
)
