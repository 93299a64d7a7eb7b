"""KernelBench level 2, problem 28: a linear layer, rows standardised, plus and times an input.

The benchmark's InstanceNorm2d sees an image of height 1 and one channel: its statistics are those
of a row.
"""

from gpu_eval.problems.definition import Substrate, TensorSpec
from gpu_eval.problems.families.fused import (
    Linear,
    Normalise,
    Residual,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

TWO_LAUNCHES = Substrate(
    name="two-launches",
    source="two_launches.cu",
    headers=("welford.cuh", "norm_block_moments.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("hidden", "batch * out_features"),),
        steps=(
            Launch(
                kernel="linear_pairs",
                grid=("ceil_div(out_features, 32)", "ceil_div(batch, 16)", "1"),
                block=("16", "16", "1"),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("hidden"),
                    int32("batch"),
                    int32("out_features"),
                    int32("in_features"),
                ),
            ),
            Launch(
                kernel="standardise_add_multiply",
                grid=("batch", "1", "1"),
                block=("256", "1", "1"),
                arguments=(
                    pointer("hidden"),
                    pointer("y_in"),
                    pointer("y"),
                    int32("out_features"),
                    float32("eps"),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    28,
    "28_BMM_InstanceNorm_Sum_ResidualAdd_Multiply",
    (
        Linear(),
        Normalise("row", affine_map=False),
        Residual("+", "y_in"),
        Residual("*", "y_in"),
    ),
    dimensions=(
        parallel("batch", 1024, tile=16),
        reduced("in_features", 8192, tile=16),
        reduced("out_features", 8192, tile=32, minimum=2),
    ),
    x=("batch", "in_features"),
    inputs=(TensorSpec("y_in", ("batch", "out_features")),),
    scalars={"eps": 1e-5},
    substrates=(TWO_LAUNCHES,),
)
