"""KernelBench level 2, problem 76: a product, a learned bias, ReLU."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Linear,
    WithParameter,
    fused_problem,
    parallel,
    reduced,
    relu,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer

TILES = "ceil_div(batch, 32) * ceil_div(out_features, 32)"

PERSISTENT = Substrate(
    name="persistent",
    source="persistent.cu",
    headers=("fused_activations.cuh", "gemm_load.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="gemm_add_relu",
                # A third of the tiles, but no more than four blocks for each of 132
                # multiprocessors: blocks go around more than once at small sizes too.
                grid=(f"min(ceil_div({TILES}, 3), 528)", "1", "1"),
                block=("128", "1", "1"),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("y"),
                    int32("batch"),
                    int32("out_features"),
                    int32("in_features"),
                    int32(TILES),
                ),
            ),
        )
    ),
)

PROBLEM = fused_problem(
    76,
    "76_Gemm_Add_ReLU",
    (Linear(bias=""), WithParameter("+", "bias", ("out_features",)), relu()),
    dimensions=(
        parallel("batch", 1024, tile=32),
        reduced("in_features", 8192, tile=32),
        parallel("out_features", 8192, tile=32),
    ),
    x=("batch", "in_features"),
    substrates=(PERSISTENT,),
)
