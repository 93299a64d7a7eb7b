"""Made-up problems for the tests of shapes and pools: small, and without any kernel."""

from collections.abc import Mapping

import torch

from gpu_eval.problems.definition import (
    Dimension,
    DimensionKind,
    OwnDraw,
    ParameterRole,
    ParameterSpec,
    Problem,
    Structure,
    Tensors,
    TensorSpec,
)
from suiteopt.matrix.schema import OperationClass

PARALLEL, REDUCED = DimensionKind.PARALLEL, DimensionKind.REDUCED


def nothing(tensors: Tensors) -> Tensors:
    raise AssertionError("no test here runs a reference")


def make_problem(
    operation_class: OperationClass,
    dimensions: tuple[Dimension, ...],
    inputs: tuple[TensorSpec, ...],
    outputs: tuple[TensorSpec, ...],
    **others: object,
) -> Problem:
    return Problem(
        id="made/up",
        benchmark="made",
        level=1,
        name="up",
        operation_class=operation_class,
        dimensions=dimensions,
        inputs=inputs,
        outputs=outputs,
        reference=nothing,
        substrates=(),
        controls=(),
        **others,  # type: ignore[arg-type]
    )


def elementwise() -> Problem:
    return make_problem(
        OperationClass.ELEMENTWISE,
        (Dimension("rows", 4096, PARALLEL, tile=4), Dimension("columns", 1000, PARALLEL, tile=64)),
        (TensorSpec("x", ("rows", "columns")),),
        (TensorSpec("y", ("rows", "columns")),),
        rounds=False,
    )


def matmul(tile: int = 16) -> Problem:
    return make_problem(
        OperationClass.MATMUL,
        (
            Dimension("m", 2048, PARALLEL, tile=tile),
            Dimension("k", 100, REDUCED, tile=tile),
            Dimension("n", 4096, PARALLEL, tile=tile),
        ),
        (TensorSpec("a", ("m", "k")), TensorSpec("b", ("k", "n"))),
        (TensorSpec("c", ("m", "n")),),
        reduction_length="k",
        exact_lattice=True,
    )


def softmax(columns: int = 393216, tile: int = 128) -> Problem:
    return make_problem(
        OperationClass.SOFTMAX,
        (Dimension("rows", 4096, PARALLEL), Dimension("columns", columns, REDUCED, tile=tile)),
        (TensorSpec("x", ("rows", "columns")),),
        (TensorSpec("y", ("rows", "columns")),),
        reduction_length="columns",
    )


def initialise_affine(shapes: Mapping[str, tuple[int, ...]]) -> Tensors:
    return {"gain": torch.rand(shapes["gain"]), "lift": torch.rand(shapes["lift"])}


def normalization() -> Problem:
    return make_problem(
        OperationClass.NORMALIZATION,
        (
            Dimension("batch", 32, PARALLEL),
            Dimension("height", 64, REDUCED),
            Dimension("width", 64, REDUCED, tile=16),
        ),
        (TensorSpec("x", ("batch", "height", "width")),),
        (TensorSpec("y", ("batch", "height", "width")),),
        parameters=(
            ParameterSpec("gain", ("height", "width"), ParameterRole.SCALE),
            ParameterSpec("lift", ("height", "width"), ParameterRole.SHIFT),
        ),
        initialise=initialise_affine,
        reduction_length="height * width",
    )


def initialise_convolution(shapes: Mapping[str, tuple[int, ...]]) -> Tensors:
    return {"w": torch.rand(shapes["w"]) - 0.5, "b": torch.rand(shapes["b"]) - 0.5}


def convolution() -> Problem:
    return make_problem(
        OperationClass.CONVOLUTION,
        (
            Dimension("batch", 64, PARALLEL),
            Dimension("channels", 3, REDUCED, fixed=True),
            Dimension("height", 224, PARALLEL, tile=16, minimum=11),
            Dimension("width", 224, PARALLEL, tile=32, minimum=11),
            Dimension("filters", 96, PARALLEL, tile=8),
            Dimension("kernel", 11, REDUCED, fixed=True),
        ),
        (TensorSpec("x", ("batch", "channels", "height", "width")),),
        (TensorSpec("y", ("batch", "filters", "out_height", "out_width")),),
        derived={
            "out_height": "(height - kernel) // stride + 1",
            "out_width": "(width - kernel) // stride + 1",
        },
        scalars={"stride": 2, "slope": 0.5},
        parameters=(
            ParameterSpec("w", ("filters", "channels", "kernel", "kernel"), ParameterRole.WEIGHT),
            ParameterSpec("b", ("filters",), ParameterRole.BIAS),
        ),
        initialise=initialise_convolution,
        reduction_length="channels * kernel * kernel",
        exact_lattice=True,
    )


def structured() -> Problem:
    """One input of every structure and own draw."""
    square = ("n", "n")
    return make_problem(
        OperationClass.LOSS,
        (Dimension("n", 40, PARALLEL, tile=8),),
        (
            TensorSpec("plain", square),
            TensorSpec("normal", square, own_draw=OwnDraw.NORMAL),
            TensorSpec("diagonal", square, structure=Structure.DIAGONAL),
            TensorSpec("symmetric", square, structure=Structure.SYMMETRIC),
            TensorSpec("lower", square, structure=Structure.LOWER_TRIANGULAR),
            TensorSpec("upper", square, structure=Structure.UPPER_TRIANGULAR),
            TensorSpec("rows", square, structure=Structure.PROBABILITY_ROWS),
            TensorSpec("signs", ("n",), structure=Structure.SIGNS),
            TensorSpec("mask", square, dtype="bool", structure=Structure.MASK),
            TensorSpec(
                "ids",
                ("n",),
                dtype="int64",
                structure=Structure.CLASS_IDS,
                own_draw=OwnDraw.CLASS_IDS,
                classes="n // 4",
            ),
        ),
        (TensorSpec("y", square),),
    )


ALL = (elementwise, matmul, softmax, normalization, convolution, structured)
