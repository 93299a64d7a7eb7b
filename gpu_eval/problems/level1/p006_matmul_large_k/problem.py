"""KernelBench level 1, problem 6: a product of matrices with few outputs and very long sums."""

import torch

from gpu_eval.problems.definition import (
    Control,
    Dimension,
    DimensionKind,
    Problem,
    Substrate,
    Tensors,
    TensorSpec,
)
from gpu_eval.problems.families.matmul import PLAIN
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
# 8,192 terms a part where there are that many; always at least three parts.
SPLITS = "max(3, min(64, ceil_div(k, 8192)))"
LENGTH = f"ceil_div(k, {SPLITS})"
SIZES = (int32("m"), int32("n"), int32("k"), int32(LENGTH))
TILES_16 = ("ceil_div(n, 16)", "ceil_div(m, 16)")
PARTIAL = Workspace("partial", f"{SPLITS} * m * n")


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"c": torch.matmul(tensors["a"], tensors["b"])}


SPLIT_K = Substrate(
    name="split-k",
    source="split_k.cu",
    headers=("gemm_fragment.cuh", "gemm_combine.cuh"),
    plan=LaunchPlan(
        workspaces=(PARTIAL,),
        steps=(
            Launch(
                kernel="split_k_partial",
                grid=("ceil_div(n, 32)", "ceil_div(m, 32)", SPLITS),
                block=("64", ONE, ONE),
                arguments=(pointer("a"), pointer("b"), pointer("partial"), *SIZES),
            ),
            Launch(
                kernel="combine_partials",
                grid=("ceil_div(m * n, 128)", ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(pointer("partial"), pointer("c"), int32("m * n"), int32(SPLITS)),
            ),
        ),
    ),
)

LAST_BLOCK = Substrate(
    name="last-block",
    source="last_block.cu",
    plan=LaunchPlan(
        workspaces=(
            PARTIAL,
            Workspace("finished", "ceil_div(n, 16) * ceil_div(m, 16)", zeroed=True),
        ),
        steps=(
            Launch(
                kernel="matmul_last_block",
                grid=(*TILES_16, SPLITS),
                block=("16", "16", ONE),
                arguments=(
                    pointer("a"),
                    pointer("b"),
                    pointer("partial"),
                    pointer("finished"),
                    pointer("c"),
                    *SIZES,
                ),
            ),
        ),
    ),
)

ATOMIC = Substrate(
    name="atomic",
    source="atomic.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="clear",
                grid=("ceil_div(m * n, 128)", ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(pointer("c"), int32("m * n")),
            ),
            Launch(
                kernel="matmul_atomic",
                grid=(*TILES_16, SPLITS),
                block=("16", "16", ONE),
                arguments=(pointer("a"), pointer("b"), pointer("c"), *SIZES),
            ),
        ),
    ),
)

PROBLEM = Problem(
    id="level1/006",
    benchmark="kernelbench",
    level=1,
    name="6_Matmul_with_large_K_dimension_",
    operation_class=OperationClass.MATMUL,
    dimensions=(
        Dimension("m", 256, DimensionKind.PARALLEL, tile=32),
        Dimension("n", 256, DimensionKind.PARALLEL, tile=32),
        Dimension("k", 524288, DimensionKind.REDUCED, tile=64),
    ),
    inputs=(TensorSpec("a", ("m", "k")), TensorSpec("b", ("k", "n"))),
    outputs=(TensorSpec("c", ("m", "n")),),
    reference=reference,
    magnitude=PLAIN.magnitude,
    reduction_length="k",
    exact_lattice=True,
    substrates=(SPLIT_K, LAST_BLOCK),
    controls=PLAIN.controls(reference, SPLIT_K, Control("atomic", "atomics", substrate=ATOMIC)),
)
