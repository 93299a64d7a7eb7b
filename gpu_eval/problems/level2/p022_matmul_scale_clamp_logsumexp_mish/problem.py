"""KernelBench level 2, problem 22: a linear layer, scaled, clamped, log-sum-exp, x mish(x)."""

import torch
from torch import Tensor
from torch.nn import functional

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Clamp,
    Linear,
    Pointwise,
    Reduce,
    Scale,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

ONE = "1"
PARTS = "ceil_div(out_features, 32)"
PRODUCT = (int32("batch"), int32("out_features"), int32("in_features"))
EPILOGUE = (float32("scale_factor"), float32("clamp_min"), float32("clamp_max"))


def times_mish(x: Tensor) -> Tensor:
    """Return x mish(x), as the benchmark writes it."""
    return x * functional.mish(x)


def times_mish_spelled_out(x: Tensor) -> Tensor:
    """Return the same with softplus and tanh as they are defined."""
    return x * (x * torch.tanh(torch.log1p(torch.exp(-x.abs())) + x.clamp(min=0)))


SUMS_OF_EXPONENTIALS = Substrate(
    name="sums-of-exponentials",
    source="sums_of_exponentials.cu",
    headers=("fused_activations.cuh", "warp_reduce.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("partial", f"batch * {PARTS}"),),
        steps=(
            Launch(
                kernel="matmul_clamp_exponentials",
                grid=(PARTS, "ceil_div(batch, 16)", ONE),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("partial"),
                    *PRODUCT,
                    *EPILOGUE,
                ),
            ),
            Launch(
                kernel="logarithm_mish",
                grid=("ceil_div(batch, 4)", ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(pointer("partial"), pointer("y"), int32("batch"), int32(PARTS)),
            ),
        ),
    ),
)

STORED_ROWS = Substrate(
    name="stored-rows",
    source="stored_rows.cu",
    headers=("fused_activations.cuh", "limits.cuh", "tree_reduce.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("clamped", "batch * out_features"),),
        steps=(
            Launch(
                kernel="matmul_scale_clamp",
                grid=("ceil_div(batch, 16)", "ceil_div(out_features, 16)", ONE),
                block=("16", "16", ONE),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("clamped"),
                    *PRODUCT,
                    *EPILOGUE,
                ),
            ),
            Launch(
                kernel="row_logsumexp_mish",
                grid=("batch", ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(pointer("clamped"), pointer("y"), int32("out_features")),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    22,
    "22_Matmul_Scale_ResidualAdd_Clamp_LogSumExp_Mish",
    (
        Linear(),
        Scale(2.0),
        Scale(2.0),  # x + x
        Clamp(-10.0, 10.0),
        Reduce("logsumexp"),
        Pointwise(times_mish, times_mish_spelled_out),
    ),
    dimensions=(
        parallel("batch", 1024, tile=16),
        reduced("in_features", 8192, tile=32),
        reduced("out_features", 8192, tile=32),
    ),
    x=("batch", "in_features"),
    scalars={"scale_factor": 2.0, "clamp_min": -10.0, "clamp_max": 10.0},
    substrates=(SUMS_OF_EXPONENTIALS, STORED_ROWS),
)
