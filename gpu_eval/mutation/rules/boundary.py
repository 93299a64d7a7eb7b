"""Boundary faults of comparisons and guards: one element too many, one too few, none checked."""

# ruff: noqa: D102 (``sites`` is documented where it is declared)

from collections.abc import Iterator
from typing import ClassVar

from tree_sitter import Node

from gpu_eval.mutation.parser import walk
from gpu_eval.mutation.rule import Rule
from gpu_eval.mutation.rules.loops import Loop, for_loops
from gpu_eval.mutation.rules.patterns import (
    bare,
    binaries,
    field,
    integer_comparisons,
    number,
    sentinel_sign,
    sides,
)
from gpu_eval.mutation.sites import LOOPS, Edit, SourceContext
from gpu_eval.mutation.tree import operator
from suiteopt.matrix.schema import Family


class _Comparison(Rule):
    """Replaces one comparison of integers by another."""

    family = Family.BOUNDARY
    before: str
    after: str

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in integer_comparisons(source, self.before):
            if not (self.after == ">=" and _halving_loop(source, node)):
                yield source.swap(node, {field(node, "operator"): self.after})


def _halving_loop(source: SourceContext, condition: Node) -> bool:
    """Return whether a condition ends a loop that halves its variable: ``>= 0`` never would."""
    above = source.parent(condition)
    update = above.child_by_field_name("update") if above is not None else None
    return update is not None and operator(update) in (">>=", "/=")


class LessToLessEqual(_Comparison):
    """Goes one element too far: ``<`` becomes ``<=``."""

    name = "lt-to-le"
    before, after = "<", "<="


class LessEqualToLess(_Comparison):
    """Stops one element short: ``<=`` becomes ``<``."""

    name = "le-to-lt"
    before, after = "<=", "<"


class GreaterEqualToGreater(_Comparison):
    """Shifts a lower bound or a return guard by one: ``>=`` becomes ``>``."""

    name = "ge-to-gt"
    before, after = ">=", ">"


class GreaterToGreaterEqual(_Comparison):
    """Shifts a bound by one: ``>`` becomes ``>=``."""

    name = "gt-to-ge"
    before, after = ">", ">="


class ComparisonReversed(Rule):
    """Compares integers the wrong way round: ``<`` becomes ``>``, ``>=`` becomes ``<=``."""

    name = "comparison-reversed"
    family = Family.BOUNDARY
    _reversed: ClassVar = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in integer_comparisons(source, *self._reversed):
            bounded = number(source, sides(node)[1]) is None
            if bounded and not _is_loop_condition(source, node) and not _follows(source, node):
                yield source.swap(node, {field(node, "operator"): self._reversed[operator(node)]})


def _follows(source: SourceContext, node: Node) -> bool:
    """Return whether a check is not the first of a conjunction: one reversed check is enough."""
    above = source.parent(node)
    conjunction = above is not None and operator(above) in ("&&", "||")
    return conjunction and above is not None and sides(above)[1].id == node.id


def _is_loop_condition(source: SourceContext, node: Node) -> bool:
    above = source.parent(node)
    return above is not None and above.type in LOOPS


def _condition(source: SourceContext, statement: Node) -> Node | None:
    clause = statement.child_by_field_name("condition")
    if clause is None:
        return None
    return clause.child_by_field_name("value") or clause


def _returns(statement: Node) -> bool:
    """Return whether an ``if`` does nothing but return or go on with the next iteration."""
    body = statement.child_by_field_name("consequence")
    if body is not None and body.type == "compound_statement" and len(body.named_children) == 1:
        body = body.named_children[0]
    return body is not None and body.type in ("return_statement", "continue_statement")


def _is_extent_check(source: SourceContext, condition: Node) -> bool:
    """Return whether a condition compares integers by order: a guard, not a choice of roles."""
    ordered = {n.id for n in integer_comparisons(source, "<", "<=", ">", ">=")}
    return any(n.id in ordered for n in walk(condition))


class GuardDropped(Rule):
    """Runs what an ``if`` guards for every thread: its condition becomes ``true``."""

    name = "guard-dropped"
    family = Family.BOUNDARY

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in source.nodes("if_statement"):
            condition = _condition(source, node)
            if condition is not None and not _returns(node) and _is_extent_check(source, condition):
                yield source.edit(condition, "true")


class ReturnGuardDropped(Rule):
    """Lets threads beyond the end go on: the condition of an early return becomes ``false``."""

    name = "return-guard-dropped"
    family = Family.BOUNDARY

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in source.nodes("if_statement"):
            condition = _condition(source, node)
            if condition is not None and _returns(node) and _is_extent_check(source, condition):
                yield source.edit(condition, "false")


class TernaryGuardDropped(Rule):
    """Reads whatever the index is: ``inside ? a[i] : 0`` becomes ``a[i]``."""

    name = "ternary-guard-dropped"
    family = Family.BOUNDARY

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in source.nodes("conditional_expression"):
            first, second = field(node, "consequence"), field(node, "alternative")
            condition = field(node, "condition")
            if any(source.is_float(side) for side in _comparands(condition)):
                continue
            if _is_padding(source, second):
                yield source.edit(node, source.text(first), atomic=False)
            elif _is_padding(source, first):
                yield source.edit(node, source.text(second), atomic=False)


def _comparands(condition: Node) -> list[Node]:
    condition = bare(condition)
    return list(sides(condition)) if condition.type == "binary_expression" else []


def _is_padding(source: SourceContext, node: Node) -> bool:
    """Return whether an expression is what a guarded read gives outside: a constant."""
    value = number(source, node)
    return (value is not None and source.is_float(node)) or sentinel_sign(source, node) != 0


class ConjunctDropped(Rule):
    """Forgets one part of a guard: ``a && b`` becomes ``a`` or ``b``."""

    name = "conjunct-dropped"
    family = Family.BOUNDARY

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in binaries(source, "&&", "||"):
            left, right = sides(node)
            yield source.edit(node, source.text(left))
            if operator(bare(left)) != operator(node):  # otherwise its own parts are dropped
                yield source.edit(node, source.text(right))


class GuardTightened(Rule):
    """Leaves the last element out: ``i < n`` becomes ``i < n - 1`` in a guard."""

    name = "guard-tightened"
    family = Family.BOUNDARY

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in integer_comparisons(source, "<", ">="):
            bound = sides(node)[1]
            if not _is_loop_condition(source, node) and number(source, bound) is None:
                yield source.swap(node, {bound: f"{source.wrapped(bound)} - 1"})


class BoundsSwapped(Rule):
    """Checks against the other extent: ``row < m && col < n`` with ``m`` and ``n`` confused."""

    name = "bound-of-other-extent"
    family = Family.BOUNDARY

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in binaries(source, "&&", "||"):
            checks = [c for c in map(bare, sides(node)) if c.type == "binary_expression"]
            yield from self._confused(source, [c for c in checks if operator(c) in ("<", ">=")])
        counted = list(for_loops(source))
        for outer in counted:
            inner = next((x for x in counted if _directly_inside(source, x, outer)), None)
            if inner is not None:
                yield from self._confused(source, [outer.condition, inner.condition])

    def _confused(self, source: SourceContext, checks: list[Node]) -> Iterator[Edit]:
        if len(checks) != 2:
            return
        bounds = [sides(check)[1] for check in checks]
        texts = [source.text(bound) for bound in bounds]
        if texts[0] == texts[1] or any(b.type != "identifier" for b in bounds):
            return
        for check, bound, other in zip(checks, bounds, reversed(texts), strict=True):
            yield source.swap(check, {bound: other})


def _directly_inside(source: SourceContext, inner: Loop, outer: Loop) -> bool:
    loops = source.loops(inner.node)
    return bool(loops) and loops[0].id == outer.node.id
