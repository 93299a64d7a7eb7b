"""Fused problems: a producer and the stages after it, and all that follows from that list.

The reference, the size of what rounds, the controls, the initialisation, the shapes, how much is
summed and how much work that is: each is the stages' own, one after the other.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

from torch import Tensor

from gpu_eval.problems.definition import (
    Control,
    Dimension,
    DimensionKind,
    ParameterSpec,
    Problem,
    Substrate,
    Tensors,
    TensorSpec,
)
from gpu_eval.problems.expressions import names
from gpu_eval.problems.families.fused_producers import Producer, folded, producers_of
from gpu_eval.problems.families.fused_stages import Bound, Shape, Stage, Trace
from gpu_eval.problems.orders import Order, ordered_controls
from suiteopt.matrix.schema import OperationClass

FMA_OFF = ("-ffp-contract=off",)


@dataclass(frozen=True)
class Pipeline:
    """Stages in the order of the benchmark's ``forward``, from ``x`` to ``y``."""

    stages: tuple[Stage, ...]

    def reference(self, tensors: Tensors) -> Tensors:
        """Compute what the benchmark's model computes."""
        given, h = dict(tensors), tensors["x"]
        for stage in self.stages:
            h = stage.apply(h, given)
        return {"y": h}

    def magnitude(self, tensors: Tensors) -> Tensors:
        """Carry the sums of absolute terms through all stages."""
        given = dict(tensors)
        b = Bound(tensors["x"], tensors["x"].abs())
        for stage in self.stages:
            b = stage.bound(b, given)
        return {"y": b.size}

    def initialise(self, shapes: Mapping[str, tuple[int, ...]]) -> Tensors:
        """Draw all parameters in the order of the stages."""
        drawn: dict[str, Tensor] = {}
        for stage in self.stages:
            drawn |= stage.initialise(shapes)
        return drawn

    def in_order(self, tensors: Tensors, order: Order) -> Tensors:
        """Sum in one order in all stages."""
        given, h = dict(tensors), tensors["x"]
        for stage in self.stages:
            h = stage.in_order(h, given, order)
        return {"y": h}

    def otherwise(self, tensors: Tensors) -> Tensors:
        """Take another formula in all stages that have one."""
        given, h = dict(tensors), tensors["x"]
        for stage in self.stages:
            h = stage.otherwise(h, given)
        return {"y": h}

    def in_double(self, tensors: Tensors) -> Tensors:
        """Compute in fp64 and round once, at the end."""
        wide = {name: tensor.double() for name, tensor in tensors.items()}
        y = self._without_chance(wide)
        return {"y": y.to(tensors["x"].dtype)}

    def by_way(self, at: int, name: str, tensors: Tensors) -> Tensors:
        """Compute one producer in another way, everything else by the library."""
        producer = self.stages[at]
        assert isinstance(producer, Producer)
        run = next(run for found, _, run in producer.ways() if found == name)
        return {"y": self._without_chance(tensors, {at: producer.by(run)})}

    def folded(self, tensors: Tensors) -> Tensors:
        """Fold what scales and shifts channels into the first producer."""
        at, producer = producers_of(self.stages)[0]
        given, taken = folded(producer, self.stages[at + 1 :], tensors)
        return Pipeline(
            (*self.stages[:at], _Folded(producer), *self.stages[at + 1 + taken :])
        )._quiet(given)

    def folds(self) -> bool:
        """Whether the stage after the first producer can be folded into it."""
        at, producer = producers_of(self.stages)[0]
        after = self.stages[at + 1 : at + 2]
        return bool(after) and type(after[0]).affine is not Stage.affine

    def controls(self, fma_off: Substrate, *further: Control) -> tuple[Control, ...]:
        """Return a problem's controls.

        Parameters
        ----------
        fma_off : Substrate
            Compiled once more, without fused multiply-adds.
        *further : Control
            A problem's own ones.
        """
        ways: list[Control] = []
        several = len(producers_of(self.stages)) > 1
        for at, producer in producers_of(self.stages):
            for name, kind, _ in producer.ways():
                label = f"{name}-{producer.weight}" if several else name
                ways.append(Control(label, kind, run=_bound_way(self, at, name)))
        fold = (Control("weights-scaled", "folded", run=self.folded),) if self.folds() else ()
        return (
            *ordered_controls(self.in_order),
            *ways,
            *fold,
            Control("other-formulas", "formula", run=self.otherwise),
            Control("in-double", "wide", run=self.in_double),
            *further,
            Control("fma-off", "fma_off", substrate=fma_off, flags=FMA_OFF),
            Control("eager", "eager", run=self.reference, identical=True),
        )

    def _quiet(self, tensors: Tensors) -> Tensors:
        return {"y": self._without_chance(tensors)}

    def _without_chance(
        self, tensors: Tensors, ways: "Mapping[int, object] | None" = None
    ) -> Tensor:
        """Run by the library, with fixed numbers where a stage takes random ones."""
        given, h = dict(tensors), tensors["x"]
        for at, stage in enumerate(self.stages):
            if ways and at in ways:
                h = ways[at](h, given)  # type: ignore[operator]
            elif stage.random:
                h = stage.otherwise(h, given)
            else:
                h = stage.apply(h, given)
        return h


class _Folded(Stage):
    """A producer whose bias is the one that `folded` has made."""

    def __init__(self, producer: Producer) -> None:
        self._producer = producer

    def apply(self, h: Tensor, tensors: Tensors) -> Tensor:
        y = self._producer.products(h, tensors[self._producer.weight])
        bias = tensors[""]
        return y + bias.reshape(-1, *(1,) * (y.dim() - 2)) if bias.dim() else y + bias


def _bound_way(pipeline: Pipeline, at: int, name: str):  # type: ignore[no-untyped-def]
    return lambda tensors: pipeline.by_way(at, name, tensors)


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
        made[" * ".join(size for size in shape if size != "1") or "1"] = None
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
