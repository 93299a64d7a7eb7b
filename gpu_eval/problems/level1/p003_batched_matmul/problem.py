"""KernelBench level 1, problem 3: products of matrices in a batch."""

import torch

from gpu_eval.problems.definition import (
    Dimension,
    DimensionKind,
    Problem,
    Substrate,
    Tensors,
    TensorSpec,
)
from gpu_eval.problems.families.matmul import PLAIN
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
POINTERS = (pointer("a"), pointer("b"), pointer("c"))
SIZES = (int32("m"), int32("n"), int32("k"))
TILES = "batch * ceil_div(m, 16) * ceil_div(n, 16)"


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"c": torch.bmm(tensors["a"], tensors["b"])}


STRIPS = Substrate(
    name="strips",
    source="strips.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="bmm_strips",
                grid=("ceil_div(n, 16)", "ceil_div(m, 32)", "batch"),
                block=("128", ONE, ONE),
                arguments=(*POINTERS, *SIZES),
            ),
        )
    ),
)

PERSISTENT = Substrate(
    name="persistent",
    source="persistent.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="bmm_persistent",
                # Few enough blocks to stay resident, and several tiles for each.
                grid=(f"min(1056, ceil_div({TILES}, 2))", ONE, ONE),
                block=("256", ONE, ONE),
                arguments=(*POINTERS, int32("batch"), *SIZES),
            ),
        )
    ),
)

PROBLEM = Problem(
    id="level1/003",
    benchmark="kernelbench",
    level=1,
    name="3_Batched_matrix_multiplication",
    operation_class=OperationClass.MATMUL,
    dimensions=(
        Dimension("batch", 128, DimensionKind.PARALLEL),
        Dimension("m", 512, DimensionKind.PARALLEL, tile=32),
        Dimension("n", 2048, DimensionKind.PARALLEL, tile=16),
        Dimension("k", 1024, DimensionKind.REDUCED, tile=16),
    ),
    inputs=(TensorSpec("a", ("batch", "m", "k")), TensorSpec("b", ("batch", "k", "n"))),
    outputs=(TensorSpec("c", ("batch", "m", "n")),),
    reference=reference,
    magnitude=PLAIN.magnitude,
    reduction_length="k",
    exact_lattice=True,
    substrates=(STRIPS, PERSISTENT),
    controls=PLAIN.controls(reference, PERSISTENT),
)
