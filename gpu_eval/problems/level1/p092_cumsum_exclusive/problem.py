"""KernelBench level 1, problem 92: sums of all elements of a row before each one.

The benchmark sums all but the last column and puts a column of zeros in front: the output has the
input's shape.
"""

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
from gpu_eval.problems.families.scan import Scan, sum_controls
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    x = tensors["x"]
    sums = torch.cumsum(x.narrow(1, 0, x.shape[1] - 1), dim=1)
    return {"y": torch.cat((torch.zeros_like(x[:, :1]), sums), dim=1)}


def magnitude(tensors: Tensors) -> Tensors:
    """Add up the absolute values."""
    return reference({"x": tensors["x"].abs()})


def scanned(tensors: Tensors, scan: Scan) -> Tensors:
    """Scan the rows with a zero in front and the last element left out."""
    x = tensors["x"]
    if x.shape[1] == 1:
        return {"y": torch.zeros_like(x)}
    return {"y": torch.cat((torch.zeros_like(x[:, :1]), scan(x[:, :-1].contiguous())), dim=1)}


BLELLOCH = Substrate(
    name="blelloch",
    source="blelloch.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="exclusive_cumsum_blelloch",
                grid=("ceil_div(rows, 2)", ONE, ONE),
                block=("64", "2", ONE),
                arguments=(pointer("x"), pointer("y"), int32("rows"), int32("cols")),
            ),
        )
    ),
)

TWO_SWEEPS = Substrate(
    name="two-sweeps",
    source="two_sweeps.cu",
    headers=("warp_scan.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="exclusive_cumsum_two_sweeps",
                grid=("rows", ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(pointer("x"), pointer("y"), int32("cols")),
            ),
        )
    ),
)

PROBLEM = Problem(
    id="level1/092",
    benchmark="kernelbench",
    level=1,
    name="92_cumsum_exclusive",
    operation_class=OperationClass.SCAN,
    dimensions=(
        Dimension("rows", 32768, DimensionKind.PARALLEL, tile=2),
        Dimension("cols", 32768, DimensionKind.REDUCED, tile=128),
    ),
    inputs=(TensorSpec("x", ("rows", "cols")),),
    outputs=(TensorSpec("y", ("rows", "cols")),),
    reference=reference,
    magnitude=magnitude,
    # The last output of a row sums all elements but the last; one column sums none, but is 1 long.
    reduction_length="max(cols - 1, 1)",
    exact_lattice=True,
    substrates=(BLELLOCH, TWO_SWEEPS),
    controls=(
        *sum_controls(scanned, reference),
        Control("fma-off", "fma_off", substrate=BLELLOCH, flags=("-ffp-contract=off",)),
    ),
)
