"""Stages one after the other: the reference, the size of what rounds, and the controls."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from gpu_eval.problems.definition import Control, Substrate, Tensors
from gpu_eval.problems.families.fused_producers import Producer, Way, folded, producers_of
from gpu_eval.problems.families.fused_stages import Bound, Stage
from gpu_eval.problems.orders import Order, ordered_controls

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
        """Carry expected errors through all stages.

        Whoever asks multiplies by the root of the reduction length, which each stage has done
        with the length of its own sums: so much is divided out.
        """
        given = dict(tensors)
        b = Bound(tensors["x"], torch.zeros_like(tensors["x"]))
        for stage in self.stages:
            b = stage.bound(b, given)
        return {"y": b.size / math.sqrt(max(b.terms, 1))}

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
        at, _ = producers_of(self.stages)[0]
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

    def _without_chance(self, tensors: Tensors, ways: Mapping[int, Way] | None = None) -> Tensor:
        """Run by the library, with fixed numbers where a stage takes random ones."""
        given, h = dict(tensors), tensors["x"]
        for at, stage in enumerate(self.stages):
            if ways and at in ways:
                h = ways[at](h, given)
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


def _bound_way(pipeline: Pipeline, at: int, name: str) -> Callable[[Tensors], Tensors]:
    return lambda tensors: pipeline.by_way(at, name, tensors)
