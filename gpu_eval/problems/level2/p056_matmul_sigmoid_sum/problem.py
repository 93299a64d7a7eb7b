"""KernelBench level 2, problem 56: a linear layer, the sum of the sigmoids of each row."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Linear,
    Reduce,
    fused_problem,
    parallel,
    reduced,
    sigmoid,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, int32, pointer

ONE = "1"
# Two tiles of 32 columns a block.
STRIPS_COUNT = "ceil_div(out_features, 64)"
FACTORS = (pointer("x"), pointer("weight"), pointer("bias"))
SIZES = (int32("batch"), int32("out_features"), int32("in_features"))

STRIPS = Substrate(
    name="strips",
    source="strips.cu",
    headers=("fused_activations.cuh", "gemm_nt_stage.cuh", "tree_reduce.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("partial", f"batch * {STRIPS_COUNT}"),),
        steps=(
            Launch(
                kernel="matmul_sigmoid_strips",
                grid=(STRIPS_COUNT, "ceil_div(batch, 8)", ONE),
                block=("64", ONE, ONE),
                arguments=(*FACTORS, pointer("partial"), *SIZES),
            ),
            Launch(
                kernel="add_strips",
                grid=("batch", ONE, ONE),
                block=("64", ONE, ONE),
                arguments=(pointer("partial"), pointer("y"), int32(STRIPS_COUNT)),
            ),
        ),
    ),
)

STORED_SIGMOIDS = Substrate(
    name="stored-sigmoids",
    source="stored_sigmoids.cu",
    headers=("fused_activations.cuh", "gemm_load.cuh", "warp_reduce.cuh", "block_reduce.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("sigmoids", "batch * out_features"),),
        steps=(
            Launch(
                kernel="matmul_sigmoid",
                grid=("ceil_div(out_features, 64)", "ceil_div(batch, 8)", ONE),
                block=("64", ONE, ONE),
                arguments=(*FACTORS, pointer("sigmoids"), *SIZES),
            ),
            Launch(
                kernel="sum_rows",
                grid=("batch", ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(pointer("sigmoids"), pointer("y"), int32("out_features")),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    56,
    "56_Matmul_Sigmoid_Sum",
    (Linear(), sigmoid(), Reduce("sum")),
    dimensions=(
        parallel("batch", 128, tile=8),
        reduced("in_features", 32768, tile=32),
        reduced("out_features", 32768, tile=64),
    ),
    x=("batch", "in_features"),
    substrates=(STRIPS, STORED_SIGMOIDS),
)
