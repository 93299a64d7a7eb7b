"""KernelBench level 1, problem 5: a matrix times 3.14."""

from gpu_eval.problems.definition import (
    Control,
    Dimension,
    DimensionKind,
    Problem,
    Substrate,
    Tensors,
    TensorSpec,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, float32, int32, int64, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
S = 3.14
"""An argument of the benchmark's forward, the same in every trial."""


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"c": tensors["a"] * S}


def in_double(tensors: Tensors) -> Tensors:
    """Multiply in fp64 by the fp64 number, and round once."""
    a = tensors["a"]
    return {"c": (a.double() * S).to(a.dtype)}


def by_reciprocal(tensors: Tensors) -> Tensors:
    """Divide by the reciprocal."""
    return {"c": tensors["a"] / (1.0 / S)}


def by_terms(tensors: Tensors) -> Tensors:
    """Add the multiples by three and by the rest."""
    a = tensors["a"]
    return {"c": a * 3.0 + a * (S - 3.0)}


VECTORISED = Substrate(
    name="vectorised",
    source="vectorised.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="scale_vectorised",
                grid=("min(4096, ceil_div(rows * cols, 1024))", ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(pointer("a"), pointer("c"), float32("s"), int64("rows * cols")),
            ),
        )
    ),
)

ROWS = Substrate(
    name="rows",
    source="rows.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="scale_rows",
                grid=("ceil_div(cols, 256)", "min(ceil_div(rows, 2), 32768)", ONE),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("a"),
                    pointer("c"),
                    float32("s"),
                    int32("rows"),
                    int32("cols"),
                ),
            ),
        )
    ),
)

PROBLEM = Problem(
    id="level1/005",
    benchmark="kernelbench",
    level=1,
    name="5_Matrix_scalar_multiplication",
    # A product in name only: every element on its own, and so are its faults.
    operation_class=OperationClass.ELEMENTWISE,
    dimensions=(
        Dimension("rows", 65536, DimensionKind.PARALLEL, tile=2),
        Dimension("cols", 16384, DimensionKind.PARALLEL, tile=256),
    ),
    scalars={"s": S},
    inputs=(TensorSpec("a", ("rows", "cols")),),
    outputs=(TensorSpec("c", ("rows", "cols")),),
    reference=reference,
    substrates=(VECTORISED, ROWS),
    controls=(
        Control("double", "wide", run=in_double),
        Control("reciprocal", "algorithm", run=by_reciprocal),
        Control("two-terms", "terms", run=by_terms),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
