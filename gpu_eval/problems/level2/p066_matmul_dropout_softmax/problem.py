"""KernelBench level 2, problem 66: a linear layer, dropout in training mode, softmax of the rows.

The benchmark's output is random. The kernel drops by a hash of the element's place, as a kernel
must that cannot know torch's generator: right in distribution, and never equal to the reference.
"""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Dropout,
    Linear,
    Softmax,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

ONE = "1"

TWO_LAUNCHES = Substrate(
    name="two-launches",
    source="two_launches.cu",
    headers=("fused_dropout.cuh", "warp_reduce.cuh", "limits.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("logits", "batch * out_features"),),
        steps=(
            Launch(
                kernel="linear_dropout",
                grid=("ceil_div(out_features, 16)", "ceil_div(batch, 4)", ONE),
                block=("16", "4", ONE),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("logits"),
                    int32("batch"),
                    int32("out_features"),
                    int32("in_features"),
                    float32("probability"),
                    int32("seed"),
                ),
            ),
            Launch(
                kernel="softmax_rows",
                grid=("batch", ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(pointer("logits"), pointer("y"), int32("out_features")),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    66,
    "66_Matmul_Dropout_Softmax",
    (Linear(), Dropout(0.2), Softmax((1,))),
    dimensions=(
        parallel("batch", 128, tile=4),
        reduced("in_features", 16384, tile=16),
        reduced("out_features", 16384, tile=16),
    ),
    x=("batch", "in_features"),
    scalars={"probability": 0.2, "seed": 20240229},
    substrates=(TWO_LAUNCHES,),
)
