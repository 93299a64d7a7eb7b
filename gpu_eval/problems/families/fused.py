"""Fused problems: a producer and the stages after it, and all that follows from that list.

The reference, the size of what rounds, the controls, the initialisation, the shapes, how much is
summed and how much work that is: each is the stages' own, one after the other. A definition needs
no other module of stages than this one.
"""

from collections.abc import Mapping
from functools import reduce

from gpu_eval.problems.definition import (
    Control,
    Dimension,
    DimensionKind,
    ParameterSpec,
    Problem,
    Substrate,
    TensorSpec,
)
from gpu_eval.problems.expressions import names
from gpu_eval.problems.families.fused_activations import (
    gelu,
    hardswish,
    mish,
    sigmoid,
    swish,
    tanh,
)
from gpu_eval.problems.families.fused_convolutions import Conv, ConvTranspose
from gpu_eval.problems.families.fused_normalise import Normalise
from gpu_eval.problems.families.fused_pipeline import Pipeline
from gpu_eval.problems.families.fused_pointwise import (
    Clamp,
    LeakyRelu,
    Pointwise,
    Scale,
    Shift,
    divide,
    relu,
    subtract,
)
from gpu_eval.problems.families.fused_pooling import Pool
from gpu_eval.problems.families.fused_producers import Linear, Producer
from gpu_eval.problems.families.fused_reductions import (
    Reduce,
    Softmax,
    SubtractMean,
    global_average,
)
from gpu_eval.problems.families.fused_stages import Shape, Stage, Trace, product_of
from gpu_eval.problems.families.fused_tensors import Dropout, Keep, Residual, WithParameter
from suiteopt.matrix.schema import OperationClass

__all__ = [
    "Clamp", "Conv", "ConvTranspose", "Dropout", "Keep", "LeakyRelu", "Linear", "Normalise",
    "Pipeline", "Pointwise", "Pool", "Reduce", "Residual", "Scale", "Shift", "Softmax", "Stage",
    "SubtractMean", "WithParameter", "divide", "fixed", "fused_problem", "gelu", "global_average",
    "hardswish", "mish", "parallel", "reduced", "relu", "sigmoid", "subtract", "swish", "tanh",
]  # fmt: skip


def fused_problem(
    number: int,
    name: str,
    stages: tuple[Stage, ...],
    *,
    dimensions: tuple[Dimension, ...],
    x: Shape,
    substrates: tuple[Substrate, ...],
    inputs: tuple[TensorSpec, ...] = (),
    derived: Mapping[str, str] | None = None,
    scalars: Mapping[str, int | float] | None = None,
    controls: tuple[Control, ...] = (),
) -> Problem:
    """Return a level-2 problem.

    Parameters
    ----------
    number, name : int, str
        The benchmark's.
    stages : tuple of Stage
        As its ``forward`` has them.
    dimensions : tuple of Dimension
    x : tuple of str
        Shape of the input ``x``; the output is ``y``.
    substrates : tuple of Substrate
        The control with fused multiply-adds off is of the first.
    inputs : tuple of TensorSpec
        Inputs after ``x``.
    derived, scalars : mapping, optional
        Further ones: sizes that stages name (``out_<axis>``, ``<prefix>_<axis>``) come before.
    controls : tuple of Control
        A problem's own ones.
    """
    pipeline = Pipeline(stages)
    trace = Trace({"x": x, **{spec.name: spec.shape for spec in inputs}}, {})
    shape = x
    parameters: list[ParameterSpec] = []
    lengths: list[str] = []
    works: list[str] = []
    made: dict[str, None] = {}
    for stage in stages:
        parameters += stage.parameters(shape, trace)
        if terms := stage.terms(shape, trace):
            lengths.append(terms)
        if isinstance(stage, Producer):
            works.append(stage.work(shape, trace))
        shape = stage.shape(shape, trace)
        made[product_of(tuple(size for size in shape if size != "1"))] = None
    return Problem(
        id=f"level2/{number:03d}",
        benchmark="kernelbench",
        level=2,
        name=name,
        operation_class=OperationClass.FUSED,
        dimensions=dimensions,
        derived=_ordered(trace.derived, derived or {}),
        scalars=dict(scalars or {}),
        inputs=(TensorSpec("x", x), *inputs),
        parameters=tuple(parameters),
        outputs=(TensorSpec("y", shape),),
        reference=pipeline.reference,
        magnitude=pipeline.magnitude,
        initialise=pipeline.initialise,
        reduction_length=" + ".join(lengths) or "1",
        work=" + ".join(works),
        held=reduce(lambda largest, size: f"max({largest}, {size})", made),
        # Exactness is judged by the terms of one sum; a second sum could leave fp32's integers.
        exact_lattice=len(lengths) == 1 and all(stage.exact for stage in stages),
        substrates=substrates,
        controls=pipeline.controls(substrates[0], *controls),
    )


def _ordered(of_stages: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """Put a problem's own sizes before those of its stages, unless they are made of these."""
    later = {name for name, text in own.items() if names(text) & set(of_stages)}
    first = {name: text for name, text in own.items() if name not in later}
    return {**first, **of_stages, **{name: own[name] for name in own if name in later}}


def parallel(name: str, size: int, tile: int = 1, minimum: int = 1) -> Dimension:
    """Return a dimension that may shrink first."""
    return Dimension(name, size, DimensionKind.PARALLEL, tile=tile, minimum=minimum)


def reduced(name: str, size: int, tile: int = 1, minimum: int = 1) -> Dimension:
    """Return a dimension that some stage sums over: shortened only where nothing else helps."""
    return Dimension(name, size, DimensionKind.REDUCED, tile=tile, minimum=minimum)


def fixed(name: str, size: int) -> Dimension:
    """Return a dimension that is never shrunk or varied."""
    return Dimension(name, size, DimensionKind.PARALLEL, fixed=True)
