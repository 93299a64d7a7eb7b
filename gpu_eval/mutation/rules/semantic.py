"""Semantic faults of accumulations, extremes and comparisons of values."""

# ruff: noqa: D102 (``sites`` is documented where it is declared)

from collections.abc import Iterator
from typing import ClassVar

from gpu_eval.mutation.rule import Rule
from gpu_eval.mutation.rules.patterns import (
    bare,
    calls,
    field,
    float_comparisons,
    integer_comparisons,
    sides,
)
from gpu_eval.mutation.rules.writes import accumulations
from gpu_eval.mutation.sites import Edit, SourceContext
from gpu_eval.mutation.tree import arguments, call_name, operator
from suiteopt.matrix.schema import Family

MAXIMA = ("fmaxf", "max", "fmax")
MINIMA = ("fminf", "min", "fmin")


class AccumulatorOverwritten(Rule):
    """Keeps the last term of a sum only: ``acc += x`` becomes ``acc = x``."""

    name = "accumulator-overwritten"
    family = Family.SEMANTIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for found in accumulations(source):
            yield source.edit(found.site, f"{source.text(found.target)} = {found.term}")


class AccumulatorSubtracted(Rule):
    """Subtracts the terms of a sum: ``acc += x`` becomes ``acc -= x``."""

    name = "accumulator-subtracted"
    family = Family.SEMANTIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for found in accumulations(source):
            yield source.edit(found.site, f"{source.text(found.target)} -= {found.term}")


class ExtremeOverwritten(Rule):
    """Keeps the last value instead of the extreme: ``m = fmaxf(m, x)`` becomes ``m = x``."""

    name = "extreme-overwritten"
    family = Family.SEMANTIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in source.nodes("assignment_expression"):
            target, value = sides(node)
            value = bare(value)
            if operator(node) != "=" or value.type != "call_expression":
                continue
            given = arguments(value)
            if call_name(value) in MAXIMA + MINIMA and len(given) == 2:
                texts = [source.text(a) for a in given]
                if source.text(target) in texts and source.is_float(target):
                    other = texts[1 - texts.index(source.text(target))]
                    yield source.swap(node, {sides(node)[1]: other})


class _ExtremeSwapped(Rule):
    """Takes the other extreme."""

    family = Family.SEMANTIC
    others: ClassVar[dict[str, str]]

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in calls(source, *self.others):
            yield source.swap(node, {field(node, "function"): self.others[call_name(node)]})


class MaxToMin(_ExtremeSwapped):
    """Takes the minimum for the maximum: ``fmaxf`` becomes ``fminf``."""

    name = "max-to-min"
    others: ClassVar = dict(zip(MAXIMA, MINIMA, strict=True))


class MinToMax(_ExtremeSwapped):
    """Takes the maximum for the minimum: ``fminf`` becomes ``fmaxf``."""

    name = "min-to-max"
    others: ClassVar = dict(zip(MINIMA, MAXIMA, strict=True))


class FloatComparisonStrictness(Rule):
    """Decides ties the other way: ``x > y`` becomes ``x >= y`` and back, for floats."""

    name = "float-comparison-strictness"
    family = Family.SEMANTIC
    _other: ClassVar = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in float_comparisons(source, *self._other):
            yield source.swap(node, {field(node, "operator"): self._other[operator(node)]})


class FloatComparisonReversed(Rule):
    """Compares values the wrong way round: ``x > y`` becomes ``x < y``, for floats."""

    name = "float-comparison-reversed"
    family = Family.SEMANTIC
    _other: ClassVar = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in float_comparisons(source, *self._other):
            yield source.swap(node, {field(node, "operator"): self._other[operator(node)]})


class EqualityNegated(Rule):
    """Lets all but the chosen thread or case act: ``==`` becomes ``!=``."""

    name = "equality-negated"
    family = Family.SEMANTIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in integer_comparisons(source, "==", "!="):
            other = "!=" if operator(node) == "==" else "=="
            yield source.swap(node, {field(node, "operator"): other})
