"""KernelBench level 2, problem 95: a linear layer, a vector, swish, tanh, GELU, hardtanh."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Clamp,
    Linear,
    WithParameter,
    fused_problem,
    gelu,
    parallel,
    reduced,
    swish,
    tanh,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

ONE = "1"

TRANSPOSED_WEIGHT = Substrate(
    name="transposed-weight",
    source="transposed_weight.cu",
    headers=("fused_activations.cuh", "gemm_load.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("transposed", "in_features * out_features"),),
        steps=(
            Launch(
                kernel="transpose_weight",
                grid=("ceil_div(in_features, 32)", "ceil_div(out_features, 32)", ONE),
                block=("32", "8", ONE),
                arguments=(
                    pointer("weight"),
                    pointer("transposed"),
                    int32("out_features"),
                    int32("in_features"),
                ),
            ),
            Launch(
                kernel="matmul_activations",
                grid=("ceil_div(out_features, 64)", "ceil_div(batch, 16)", ONE),
                block=("64", ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("transposed"),
                    pointer("bias"),
                    pointer("add_value"),
                    pointer("y"),
                    int32("batch"),
                    int32("out_features"),
                    int32("in_features"),
                    float32("low"),
                    float32("high"),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    95,
    "95_Matmul_Add_Swish_Tanh_GELU_Hardtanh",
    (
        Linear(),
        WithParameter("+", "add_value", ("out_features",)),
        swish(),
        tanh(),
        gelu(),
        Clamp(-1.0, 1.0),
    ),
    dimensions=(
        parallel("batch", 1024, tile=16),
        reduced("in_features", 8192, tile=32),
        parallel("out_features", 8192, tile=64),
    ),
    x=("batch", "in_features"),
    scalars={"low": -1.0, "high": 1.0},
    substrates=(TRANSPOSED_WEIGHT,),
)
