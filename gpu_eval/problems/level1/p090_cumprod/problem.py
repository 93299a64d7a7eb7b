"""KernelBench level 1, problem 90: prefix products along the rows of a matrix.

On the benchmark's own draw, uniform in [0, 1), a product vanishes below fp32 after some hundred of
the 32,768 factors.
"""

from collections.abc import Callable

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
from gpu_eval.problems.families.scan import (
    Combine,
    Scan,
    by_tree,
    doubled,
    in_chunks,
    running_products,
    scaled_products,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"y": torch.cumprod(tensors["x"], dim=1)}


def by_carry(tensors: Tensors) -> Tensors:
    """Multiply one column after the other into a running product."""
    return {"y": running_products(tensors["x"])}


def in_two_lanes(times: Combine, ones: Scan) -> Scan:
    """Multiply the columns of even and of odd number apart, and their products at the end."""

    def scan(x: torch.Tensor) -> torch.Tensor:
        even, odd = x.clone(), x.clone()
        even[:, 1::2], odd[:, 0::2] = ones(x[:, 1::2]), ones(x[:, 0::2])
        return times(doubled(times)(even), doubled(times)(odd))

    return scan


def scaled(name: str, kind: str, scan: Callable[[Combine, Scan], Scan]) -> Control:
    """Return a control whose partial products keep their exponents apart."""
    products = scaled_products(scan)
    return Control(name, kind, run=lambda tensors: {"y": products(tensors["x"])})


SERIAL_ROWS = Substrate(
    name="serial-rows",
    source="serial_rows.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="cumprod_serial_rows",
                grid=("ceil_div(rows, 32)", ONE, ONE),
                block=("32", "4", ONE),
                arguments=(pointer("x"), pointer("y"), int32("rows"), int32("cols")),
            ),
        )
    ),
)

SCALED_SCAN = Substrate(
    name="scaled-scan",
    source="scaled_scan.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="cumprod_scaled_scan",
                grid=("ceil_div(rows, 4)", ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(pointer("x"), pointer("y"), int32("rows"), int32("cols")),
            ),
        )
    ),
)

PROBLEM = Problem(
    id="level1/090",
    benchmark="kernelbench",
    level=1,
    name="90_cumprod",
    operation_class=OperationClass.SCAN,
    dimensions=(
        Dimension("rows", 32768, DimensionKind.PARALLEL, tile=32),
        Dimension("cols", 32768, DimensionKind.REDUCED, tile=32),
    ),
    inputs=(TensorSpec("x", ("rows", "cols")),),
    outputs=(TensorSpec("y", ("rows", "cols")),),
    reference=reference,
    # The reference itself is the magnitude of a product: its relative errors add up.
    reduction_length="cols",
    multiplies=True,
    substrates=(SERIAL_ROWS, SCALED_SCAN),
    controls=(
        Control("serial", "serial", run=by_carry),
        scaled("doubling", "pairwise", lambda times, _: doubled(times)),
        scaled("tree", "tree", by_tree),
        scaled("chunked-2", "chunked", lambda times, _: in_chunks(doubled(times), times, 2)),
        scaled("chunked-8", "chunked", lambda times, _: in_chunks(doubled(times), times, 8)),
        scaled("interleaved-2", "interleaved", in_two_lanes),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
