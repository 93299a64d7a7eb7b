"""KernelBench level 1, problem 44: 1D average pooling, 8 taps, stride 1, padding 4 counted."""

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
from gpu_eval.problems.families.pooling import Window, average_controls
from gpu_eval.problems.plan import Launch, LaunchPlan, float32, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
WINDOW = Window(axes=1, kernel=8, stride=1, padding=4)


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    y = torch.nn.functional.avg_pool1d(
        tensors["x"], WINDOW.kernel, WINDOW.stride, WINDOW.padding, count_include_pad=True
    )
    return {"y": y}


def magnitude(tensors: Tensors) -> Tensors:
    """Average the absolute values."""
    return reference({"x": tensors["x"].abs()})


DIRECT = Substrate(
    name="direct",
    source="direct.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="avgpool1d_direct",
                grid=("batch * channels", "ceil_div(out_length, 128)", ONE),
                block=("128", ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("y"),
                    int32("length"),
                    int32("out_length"),
                    int32("kernel"),
                    int32("stride"),
                    int32("padding"),
                    float32("1 / kernel"),
                ),
            ),
        )
    ),
)

SHARED_CORE = Substrate(
    name="shared-core",
    source="shared_core.cu",
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="avgpool1d_shared_core",
                grid=("ceil_div(batch * channels, 4)", "ceil_div(out_length, 128)", ONE),
                block=("32", "4", ONE),
                arguments=(
                    pointer("x"),
                    pointer("y"),
                    int32("batch * channels"),
                    int32("length"),
                    int32("out_length"),
                ),
            ),
        )
    ),
)

PROBLEM = Problem(
    id="level1/044",
    benchmark="kernelbench",
    level=1,
    name="44_Average_Pooling_1D",
    operation_class=OperationClass.POOLING,
    dimensions=(
        Dimension("batch", 64, DimensionKind.PARALLEL),
        Dimension("channels", 128, DimensionKind.PARALLEL, tile=4),
        Dimension("length", 65536, DimensionKind.PARALLEL, tile=128),
    ),
    derived={"out_length": "(length + 2 * padding - kernel) // stride + 1"},
    scalars={"kernel": WINDOW.kernel, "stride": WINDOW.stride, "padding": WINDOW.padding},
    inputs=(TensorSpec("x", ("batch", "channels", "length")),),
    outputs=(TensorSpec("y", ("batch", "channels", "out_length")),),
    reference=reference,
    magnitude=magnitude,
    reduction_length="kernel",
    # A sum of 8 small integers over 8 is exact too.
    exact_lattice=True,
    substrates=(DIRECT, SHARED_CORE),
    controls=(
        *average_controls(WINDOW, reference),
        Control("fma-off", "fma_off", substrate=DIRECT, flags=("-ffp-contract=off",)),
    ),
)
