"""KernelBench level 2, problem 33: a linear layer, a learned scale, BatchNorm in training mode."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Linear,
    Normalise,
    WithParameter,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, float32, int32, pointer

COLUMNS_IN_BLOCK = Substrate(
    name="columns-in-block",
    source="columns_in_block.cu",
    headers=("gemm_load.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="gemm_scale_batchnorm",
                grid=("ceil_div(out_features, 16)", "1", "1"),
                block=("16", "8", "1"),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("scale"),
                    pointer("norm_weight"),
                    pointer("norm_bias"),
                    pointer("y"),
                    int32("batch"),
                    int32("out_features"),
                    int32("in_features"),
                    float32("eps"),
                ),
            ),
        )
    ),
)

PROBLEM = fused_problem(
    33,
    "33_Gemm_Scale_BatchNorm",
    (Linear(), WithParameter("*", "scale", ("out_features",)), Normalise("batch")),
    dimensions=(
        reduced("batch", 1024, tile=32, minimum=2),
        reduced("in_features", 8192, tile=16),
        parallel("out_features", 8192, tile=16),
    ),
    x=("batch", "in_features"),
    scalars={"eps": 1e-5},
    substrates=(COLUMNS_IN_BLOCK,),
)
