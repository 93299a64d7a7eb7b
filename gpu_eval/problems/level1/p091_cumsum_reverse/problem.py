"""KernelBench level 1, problem 91: sums of each element of a row and all that come after it."""

import torch

from gpu_eval.problems.blind.level1_091 import control as from_the_contract
from gpu_eval.problems.definition import (
    Control,
    Dimension,
    DimensionKind,
    Problem,
    Substrate,
    Tensors,
    TensorSpec,
)
from gpu_eval.problems.families.scan import Scan, sum_controls
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
THREADS = "128"
SEGMENTS = "ceil_div(cols, 128)"


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"y": torch.cumsum(tensors["x"].flip(1), dim=1).flip(1)}


def magnitude(tensors: Tensors) -> Tensors:
    """Add up the absolute values."""
    return reference({"x": tensors["x"].abs()})


def scanned(tensors: Tensors, scan: Scan) -> Tensors:
    """Mirror the rows, scan them, and mirror them back."""
    return {"y": scan(tensors["x"].flip(1)).flip(1)}


WARP_ROWS = Substrate(
    name="warp-rows",
    source="warp_rows.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="reverse_cumsum_warp_rows",
                grid=("ceil_div(rows, 4)", ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(pointer("x"), pointer("y"), int32("rows"), int32("cols")),
            ),
        )
    ),
)

REDUCE_THEN_SCAN = Substrate(
    name="reduce-then-scan",
    source="reduce_then_scan.cu",
    headers=("warp_reduce.cuh", "block_reduce.cuh", "warp_scan.cuh"),
    plan=LaunchPlan(
        workspaces=(
            Workspace("totals", f"rows * {SEGMENTS}"),
            Workspace("after", f"rows * {SEGMENTS}"),
        ),
        steps=(
            Launch(
                kernel="reverse_segment_totals",
                grid=(SEGMENTS, "rows", ONE),
                block=(THREADS, ONE, ONE),
                arguments=(pointer("x"), pointer("totals"), int32("cols")),
            ),
            Launch(
                kernel="reverse_totals",
                grid=("ceil_div(rows, 4)", ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(
                    pointer("totals"),
                    pointer("after"),
                    int32("rows"),
                    int32(SEGMENTS),
                ),
            ),
            Launch(
                kernel="reverse_segment_scan",
                grid=(SEGMENTS, "rows", ONE),
                block=(THREADS, ONE, ONE),
                arguments=(pointer("x"), pointer("after"), pointer("y"), int32("cols")),
            ),
        ),
    ),
)

PROBLEM = Problem(
    id="level1/091",
    benchmark="kernelbench",
    level=1,
    name="91_cumsum_reverse",
    operation_class=OperationClass.SCAN,
    # The first output of a row sums all of it, so that the scanned dimension is a reduced one.
    dimensions=(
        Dimension("rows", 32768, DimensionKind.PARALLEL, tile=4),
        Dimension("cols", 32768, DimensionKind.REDUCED, tile=128),
    ),
    inputs=(TensorSpec("x", ("rows", "cols")),),
    outputs=(TensorSpec("y", ("rows", "cols")),),
    reference=reference,
    magnitude=magnitude,
    reduction_length="cols",
    exact_lattice=True,
    substrates=(WARP_ROWS, REDUCE_THEN_SCAN),
    controls=(
        *sum_controls(scanned, reference),
        Control("fma-off", "fma_off", substrate=WARP_ROWS, flags=("-ffp-contract=off",)),
        Control("from-the-contract", "blind", run=from_the_contract, blind=True),
    ),
)
