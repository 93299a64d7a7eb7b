"""KernelBench level 2, problem 14: a product halved, summed over each row, scaled."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Linear,
    Reduce,
    Scale,
    divide,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

ONE = "1"
PARTS = "ceil_div(out_features, 64)"

ROW_SUMS = Substrate(
    name="row-sums",
    source="row_sums.cu",
    headers=("warp_reduce.cuh",),
    plan=LaunchPlan(
        workspaces=(Workspace("partial", f"batch * {PARTS}"),),
        steps=(
            Launch(
                kernel="gemm_divide_row_sums",
                grid=(PARTS, "ceil_div(batch, 16)", ONE),
                block=("16", "16", ONE),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("partial"),
                    int32("batch"),
                    int32("out_features"),
                    int32("in_features"),
                    float32("divisor"),
                ),
            ),
            Launch(
                kernel="add_and_scale",
                grid=("ceil_div(batch, 4)", ONE, ONE),
                block=("32", "4", ONE),
                arguments=(
                    pointer("partial"),
                    pointer("y"),
                    int32("batch"),
                    int32(PARTS),
                    float32("scaling_factor"),
                ),
            ),
        ),
    ),
)

WEIGHTS_FIRST = Substrate(
    name="weights-first",
    source="weights_first.cu",
    headers=("tree_reduce.cuh",),
    plan=LaunchPlan(
        workspaces=(Workspace("summed", "in_features"),),
        steps=(
            Launch(
                kernel="sum_weight_rows",
                grid=("ceil_div(in_features, 32)", ONE, ONE),
                block=("32", "8", ONE),
                arguments=(
                    pointer("weight"),
                    pointer("summed"),
                    int32("out_features"),
                    int32("in_features"),
                ),
            ),
            Launch(
                kernel="matvec_divide_scale",
                grid=("batch", ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("summed"),
                    pointer("y"),
                    int32("in_features"),
                    float32("divisor"),
                    float32("scaling_factor"),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    14,
    "14_Gemm_Divide_Sum_Scaling",
    (Linear(bias="", normal=True), divide(2.0), Reduce("sum"), Scale(1.5)),
    dimensions=(
        parallel("batch", 1024, tile=16),
        reduced("in_features", 8192, tile=32),
        reduced("out_features", 8192, tile=64),
    ),
    x=("batch", "in_features"),
    scalars={"divisor": 2.0, "scaling_factor": 1.5},
    substrates=(ROW_SUMS, WEIGHTS_FIRST),
)
