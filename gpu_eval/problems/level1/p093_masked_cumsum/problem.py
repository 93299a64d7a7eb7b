"""KernelBench level 1, problem 93: prefix sums along rows of the elements that a mask lets pass."""

import torch

from gpu_eval.problems.definition import (
    Control,
    Dimension,
    DimensionKind,
    Problem,
    Structure,
    Substrate,
    Tensors,
    TensorSpec,
)
from gpu_eval.problems.families.scan import Scan, sum_controls
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"y": torch.cumsum(tensors["x"] * tensors["mask"], dim=1)}


def magnitude(tensors: Tensors) -> Tensors:
    """Add up the absolute values."""
    return reference({**tensors, "x": tensors["x"].abs()})


def scanned(tensors: Tensors, scan: Scan) -> Tensors:
    """Put zeros where the mask is false, and scan the rows."""
    return {"y": scan(tensors["x"].masked_fill(~tensors["mask"], 0.0))}


BLOCK_ROWS = Substrate(
    name="block-rows",
    source="block_rows.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="masked_cumsum_block_rows",
                grid=("rows", ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(pointer("x"), pointer("mask"), pointer("y"), int32("cols")),
            ),
        )
    ),
)

RAKING = Substrate(
    name="raking",
    source="raking.cu",
    headers=("warp_scan.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="masked_cumsum_raking",
                grid=("ceil_div(rows, 2)", ONE, ONE),
                block=("128", "2", ONE),
                arguments=(
                    pointer("x"),
                    pointer("mask"),
                    pointer("y"),
                    int32("rows"),
                    int32("cols"),
                ),
            ),
        )
    ),
)

PROBLEM = Problem(
    id="level1/093",
    benchmark="kernelbench",
    level=1,
    name="93_masked_cumsum",
    operation_class=OperationClass.SCAN,
    dimensions=(
        Dimension("rows", 32768, DimensionKind.PARALLEL, tile=2),
        Dimension("cols", 32768, DimensionKind.REDUCED, tile=128),
    ),
    inputs=(
        TensorSpec("x", ("rows", "cols")),
        TensorSpec("mask", ("rows", "cols"), dtype="bool", structure=Structure.MASK),
    ),
    outputs=(TensorSpec("y", ("rows", "cols")),),
    reference=reference,
    magnitude=magnitude,
    reduction_length="cols",
    exact_lattice=True,
    substrates=(BLOCK_ROWS, RAKING),
    controls=(
        *sum_controls(scanned, reference),
        Control("fma-off", "fma_off", substrate=RAKING, flags=("-ffp-contract=off",)),
    ),
)
