"""A problem of two substrates that share a header, for tests of faults."""

from collections.abc import Mapping
from dataclasses import replace

from gpu_eval.problems.definition import (
    Dimension,
    DimensionKind,
    ParameterRole,
    ParameterSpec,
    Problem,
    Substrate,
    Tensors,
    TensorSpec,
)
from gpu_eval.problems.plan import (
    Launch,
    LaunchPlan,
    Repeat,
    When,
    Workspace,
    float32,
    int32,
    pointer,
)
from suiteopt.matrix.schema import OperationClass

HEADER = """#pragma once
__device__ float used(float v) { return v + 1.0f; }
__device__ float unused(float v) { return v - 2.0f; }
"""
FIRST = """#include "ops.cuh"
// Größe ± ε: the text before this line is not ASCII
__global__ void first(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = used(x[i]);
}
"""
SECOND = FIRST.replace("void first", "void second")
_INNER = Launch(
    kernel="first",
    grid=("n", "1", "1"),
    block=("32", "1", "1"),
    arguments=(pointer("v"), float32("1 / n"), float32("0.25"), int32("4")),
)
PLAN = LaunchPlan(
    steps=(
        Launch(
            kernel="first",
            grid=("ceil_div(n, 128)", "m", "1"),
            block=("16", "8", "1"),
            arguments=(pointer("x"), pointer("w"), pointer("y"), int32("n"), int32("m")),
            shared="4 * m",
        ),
        Repeat("step", "0", "m", (When("n % 4 == 0", (_INNER,), (_INNER, _INNER)),)),
    ),
    workspaces=(Workspace("partial", "n * m", zeroed=True), Workspace("other", "m")),
)
_SIMPLE_LAUNCH = Launch(
    kernel="first",
    grid=("ceil_div(n, 128)", "1", "1"),
    block=("128", "1", "1"),
    arguments=(pointer("x"), pointer("y"), int32("n")),
)
SIMPLE = LaunchPlan(steps=(_SIMPLE_LAUNCH,))


def reference(tensors: Tensors) -> Tensors:
    return {"y": tensors["x"] + 1.0}


def problem() -> Problem:
    second = LaunchPlan(steps=(replace(_SIMPLE_LAUNCH, kernel="second"),))
    return Problem(
        id="made/001",
        benchmark="made",
        level=1,
        name="made",
        operation_class=OperationClass.ELEMENTWISE,
        dimensions=(
            Dimension("n", 1000, DimensionKind.PARALLEL),
            Dimension("m", 6, DimensionKind.PARALLEL),
        ),
        inputs=(TensorSpec("x", ("n",)), TensorSpec("w", ("n",))),
        outputs=(TensorSpec("y", ("n",)),),
        parameters=(ParameterSpec("v", ("m",), ParameterRole.WEIGHT),),
        reference=reference,
        substrates=(
            Substrate("one", "first.cu", SIMPLE, ("ops.cuh",)),
            Substrate("two", "second.cu", second, ("ops.cuh",)),
        ),
        controls=(),
    )


def files(main: str) -> Mapping[str, str]:
    return {main: FIRST if main == "first.cu" else SECOND, "ops.cuh": HEADER}
