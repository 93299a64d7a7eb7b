"""KernelBench level 2, problem 45: a linear layer, sigmoid, another linear layer, log-sum-exp."""

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

TWO_LAYERS = Substrate(
    name="two-layers",
    source="two_layers.cu",
    headers=("fused_activations.cuh", "gemm_load.cuh", "limits.cuh", "softmax_running.cuh"),
    plan=LaunchPlan(
        workspaces=(
            Workspace("hidden", "batch * hidden_size"),
            Workspace("logits", "batch * output_size"),
        ),
        steps=(
            Launch(
                kernel="linear_sigmoid",
                grid=("ceil_div(hidden_size, 64)", "ceil_div(batch, 16)", ONE),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("hidden"),
                    int32("batch"),
                    int32("hidden_size"),
                    int32("in_features"),
                ),
            ),
            Launch(
                kernel="linear_plain",
                grid=("ceil_div(output_size, 64)", "ceil_div(batch, 16)", ONE),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("hidden"),
                    pointer("weight2"),
                    pointer("bias2"),
                    pointer("logits"),
                    int32("batch"),
                    int32("output_size"),
                    int32("hidden_size"),
                ),
            ),
            Launch(
                kernel="logsumexp_rows",
                grid=("ceil_div(batch, 4)", ONE, ONE),
                block=("32", "4", ONE),
                arguments=(pointer("logits"), pointer("y"), int32("batch"), int32("output_size")),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    45,
    "45_Gemm_Sigmoid_LogSumExp",
    (
        Linear("hidden_size"),
        sigmoid(),
        Linear("output_size", "weight2", "bias2"),
        Reduce("logsumexp", (1,), keep=False),
    ),
    dimensions=(
        parallel("batch", 16384, tile=16),
        reduced("in_features", 2048, tile=16),
        reduced("hidden_size", 4096, tile=64),
        reduced("output_size", 1024, tile=64),
    ),
    x=("batch", "in_features"),
    substrates=(TWO_LAYERS,),
)
