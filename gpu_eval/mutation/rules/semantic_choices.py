"""Semantic faults of choices between values: clamps, thresholds, extremes, branches."""

# ruff: noqa: D102 (``sites`` is documented where it is declared)

from collections.abc import Iterator

from gpu_eval.mutation.rule import Rule
from gpu_eval.mutation.rules.patterns import (
    bare,
    calls,
    field,
    float_comparisons,
    is_pure,
    number,
    sides,
)
from gpu_eval.mutation.rules.semantic import MAXIMA, MINIMA
from gpu_eval.mutation.sites import Edit, SourceContext
from gpu_eval.mutation.tree import arguments, call_name, operator
from suiteopt.matrix.schema import Family


class ClampRemoved(Rule):
    """Leaves a clamp out: ``fmaxf(x, 0.0f)`` becomes ``x``."""

    name = "clamp-removed"
    family = Family.SEMANTIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in calls(source, *MAXIMA, *MINIMA):
            given = arguments(node)
            if len(given) != 2 or not any(source.is_float(a) for a in given):
                continue
            limits = [number(source, a) is not None for a in given]
            if limits.count(True) == 1:
                yield source.edit(node, source.wrapped(given[limits.index(False)]))
        for node in source.nodes("conditional_expression"):
            condition = bare(field(node, "condition"))
            chosen = [field(node, f) for f in ("consequence", "alternative")]
            limits = [number(source, c) is not None for c in chosen]
            clamps = condition.type == "binary_expression" and operator(condition)[0] in "<>"
            if not clamps or limits.count(True) != 1 or not source.is_float(node):
                continue
            kept = chosen[limits.index(False)]
            if source.text(kept) in {source.text(side) for side in sides(condition)}:
                yield source.edit(node, source.text(kept), atomic=False)


class ZeroThresholdShifted(Rule):
    """Cuts at 0.001 instead of zero, in a clamp or a comparison."""

    name = "zero-threshold-shifted"
    family = Family.SEMANTIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in calls(source, *MAXIMA, *MINIMA):
            for given in arguments(node):
                if number(source, given) == 0 and source.is_float(given):
                    yield source.swap(node, {given: "1e-3f"})
        for node in float_comparisons(source, "<", "<=", ">", ">="):
            for side in sides(node):
                if number(source, side) == 0:
                    yield source.swap(node, {side: "1e-3f"})


class MaxNanPolicy(Rule):
    """Treats NaN differently: ``fmaxf(a, b)`` becomes ``a > b ? a : b``, and back."""

    name = "max-nan-policy"
    family = Family.SEMANTIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in calls(source, *MAXIMA, *MINIMA):
            given = arguments(node)
            pure = len(given) == 2 and all(is_pure(a) for a in given)
            if pure and any(source.is_float(a) for a in given):
                sign = ">" if call_name(node) in MAXIMA else "<"
                a, b = (source.wrapped(x) for x in given)
                yield source.edit(node, f"({a} {sign} {b} ? {a} : {b})")
        for node in source.nodes("conditional_expression"):
            condition = bare(field(node, "condition"))
            if condition.type != "binary_expression" or operator(condition) not in "<=>=":
                continue
            chosen = [source.text(field(node, f)) for f in ("consequence", "alternative")]
            if [source.text(side) for side in sides(condition)] == chosen and source.is_float(node):
                function = "fmaxf" if operator(condition).startswith(">") else "fminf"
                yield source.edit(node, f"{function}({chosen[0]}, {chosen[1]})")


class BranchesSwapped(Rule):
    """Confuses the two values of a choice: ``c ? a : b`` becomes ``c ? b : a``."""

    name = "branches-swapped"
    family = Family.SEMANTIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in source.nodes("conditional_expression"):
            first, second = field(node, "consequence"), field(node, "alternative")
            if source.is_float(node):
                yield source.swap(node, {first: source.text(second), second: source.text(first)})
