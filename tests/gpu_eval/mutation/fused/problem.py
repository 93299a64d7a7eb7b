"""A linear layer, activations, a residual, a group norm and a clamp: five stages, four launches."""

import torch

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
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer
from suiteopt.matrix.schema import OperationClass

EPS, LOW, HIGH = 1e-5, -0.5, 0.75


def reference(tensors: Tensors) -> Tensors:
    """Compute the stages one after the other."""
    x, bias = tensors["x"] @ tensors["weight"], tensors["bias"]
    x = torch.nn.functional.silu(x + bias) * tensors["scale"]
    x = torch.nn.functional.softplus(torch.tanh(x)) + tensors["residual"]
    x = x.clamp(min=-1.0) + bias
    x = torch.nn.functional.group_norm(x, 4, tensors["gamma"], tensors["beta"], EPS)
    return {"y": x.clamp(LOW, HIGH)}


def launch(kernel: str, grid: tuple[str, str], block: tuple[str, str], given: str) -> Launch:
    """Return a launch; of its arguments ``=n`` is an integer and ``~s`` a float."""
    kinds = {"=": int32, "~": float32}
    found = [kinds[one[0]](one[1:]) if one[0] in kinds else pointer(one) for one in given.split()]
    return Launch(kernel, (*grid, "1"), (*block, "1"), tuple(found))


PLAN = LaunchPlan(
    workspaces=(
        Workspace("mixed", "rows * cols"),
        Workspace("sums", "rows * groups * 64"),
        Workspace("squares", "rows * groups * 64"),
        Workspace("normed", "rows * cols"),
    ),
    steps=(
        launch(
            "linear_fused",
            ("ceil_div(cols, 64)", "ceil_div(rows, 4)"),
            ("16", "4"),
            "x weight bias scale residual mixed =rows =depth =cols",
        ),
        launch("group_sums", ("rows * groups", "1"), ("64", "1"), "mixed sums squares =size"),
        launch(
            "group_norm",
            ("rows * groups", "1"),
            ("64", "1"),
            "mixed sums squares gamma beta normed =groups =size ~eps",
        ),
        launch(
            "clamp",
            ("ceil_div(rows * cols, 128)", "1"),
            ("128", "1"),
            "normed y =rows*cols ~low ~high",
        ),
    ),
)

PROBLEM = Problem(
    id="made/fused",
    benchmark="made",
    level=2,
    name="fused",
    operation_class=OperationClass.MATMUL,
    dimensions=(
        Dimension("rows", 24, DimensionKind.PARALLEL),
        Dimension("depth", 40, DimensionKind.REDUCED),
        Dimension("cols", 80, DimensionKind.PARALLEL, tile=4),
        Dimension("groups", 4, DimensionKind.PARALLEL, fixed=True),
    ),
    derived={"size": "cols // groups"},
    scalars={"eps": EPS, "low": LOW, "high": HIGH},
    inputs=(TensorSpec("x", ("rows", "depth")), TensorSpec("residual", ("rows", "cols"))),
    parameters=(
        ParameterSpec("weight", ("depth", "cols"), ParameterRole.WEIGHT),
        ParameterSpec("bias", ("cols",), ParameterRole.BIAS),
        ParameterSpec("scale", ("cols",), ParameterRole.SCALE),
        ParameterSpec("gamma", ("cols",), ParameterRole.SCALE),
        ParameterSpec("beta", ("cols",), ParameterRole.SHIFT),
    ),
    outputs=(TensorSpec("y", ("rows", "cols")),),
    reference=reference,
    reduction_length="depth",
    substrates=(Substrate("fused", "linear_norm.cu", PLAN),),
    controls=(),
)
