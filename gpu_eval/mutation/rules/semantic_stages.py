"""Semantic faults of stages: clamps, branches, parameters never read, shortcuts, lost steps."""

# ruff: noqa: D102 (``sites`` is documented where it is declared)

from collections.abc import Iterator
from itertools import pairwise

from tree_sitter import Node

from gpu_eval.mutation.kinds import Space
from gpu_eval.mutation.parser import walk
from gpu_eval.mutation.rule import Rule
from gpu_eval.mutation.rules.patterns import (
    FMA,
    bare,
    binaries,
    calls,
    field,
    is_pure,
    mentions,
    number,
    sentinel_sign,
    sides,
    statement_of,
    statements,
)
from gpu_eval.mutation.rules.precision_numerics import counted
from gpu_eval.mutation.rules.writes import accumulations, index_of, is_written, stores, subscripts
from gpu_eval.mutation.sites import Edit, SourceContext
from gpu_eval.mutation.tree import arguments, call_name, operator
from suiteopt.matrix.schema import Family


class ParameterUnread(Rule):
    """Never reads a parameter: a factor from memory becomes one, a term zero."""

    name = "parameter-unread"
    family = Family.SEMANTIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        summed = [found.site for found in accumulations(source)]
        for node in binaries(source, "*", "+"):
            if not source.is_float(node) or any(source.inside(node, s) for s in summed):
                continue
            left, right = sides(node)
            if _from_memory(source, right) and not _from_memory(source, left):
                yield source.edit(node, source.text(left))
            elif _from_memory(source, left) and not _from_memory(source, right):
                yield source.edit(node, source.text(right))
        for node in calls(source, *FMA):
            if any(source.inside(node, s) for s in summed):
                continue
            for position, given in enumerate(arguments(node)):
                if _from_memory(source, given):
                    yield source.swap(node, {given: "0.0f" if position == 2 else "1.0f"})
        targets = {source.text(found.target) for found in accumulations(source)}
        for node in source.nodes("init_declarator"):
            value = field(node, "value")
            seeds = source.text(field(node, "declarator")) in targets
            if seeds and source.is_float(value) and _from_memory(source, value):
                yield source.edit(value, "0.0f")


def _from_memory(source: SourceContext, node: Node) -> bool:
    """Return whether a value is read from global memory here or where its name was declared."""
    node = bare(node)
    if node.type == "identifier":
        declared = source.lookup(node)
        value = declared.value if declared is not None else None
        node = bare(value) if value is not None else node
    if node.type == "call_expression" and call_name(node) == "__ldg":
        return True
    return node.type == "subscript_expression" and source.space(node) is Space.GLOBAL


class DivisorOfOtherExtent(Rule):
    """Divides a sum by the wrong extent, which equal extents hide."""

    name = "divisor-of-other-extent"
    family = Family.SEMANTIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in binaries(source, "/"):
            count = counted(source, sides(node)[1]) if source.is_float(node) else None
            if count is None:
                continue
            others = [p for p in source.integer_parameters(node) if p != source.text(count)]
            if others:
                yield source.swap(node, {count: others[0]})


class EarlyExitOnZero(Rule):
    """Stops a sum of products at the first zero factor."""

    name = "early-exit-on-zero"
    family = Family.SEMANTIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for found in accumulations(source):
            statement, around = statement_of(source, found.site), source.loops(found.site)
            if found.factors is None or statement is None or not around:
                continue
            factor = found.factors[0]
            synchronizes = any(call_name(n) == "__syncthreads" for n in walk(around[0]))
            if is_pure(factor) and not synchronizes:
                test = f"if ({source.text(factor)} == 0.0f) break;"
                yield source.edit(statement, f"{{ {test} {source.text(statement)} }}")


class ShapeShortcut(Rule):
    """Copies the input where an extent is even: a shortcut that the benchmark's shape takes."""

    name = "shape-shortcut"
    family = Family.SEMANTIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        reads = [
            (node, index)
            for node, index in subscripts(source, Space.GLOBAL)
            if source.is_float(node) and not is_written(source, node)
        ]
        for node in stores(source, Space.GLOBAL):
            target, value = sides(node)
            index, extents = index_of(target), source.integer_parameters(node)
            if index is None or not extents:
                continue
            visible = source.visible(node)
            for read, place in reads:
                root = source.root(read)
                if root is None or source.function(read) != source.function(node):
                    continue
                if source.text(place) == source.text(index) and source.text(root) in visible:
                    choice = f"{extents[0]} % 2 == 0 ? {source.text(read)} : ({source.text(value)})"
                    yield source.swap(node, {value: choice})
                    break


class StageLeftOut(Rule):
    """Leaves a step out that updates a value it already had."""

    name = "stage-left-out"
    family = Family.SEMANTIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in source.nodes("assignment_expression"):
            statement = statement_of(source, node)
            target, value = sides(node)
            named = target.type in ("identifier", "field_expression")
            if statement is None or not named or not source.is_float(target):
                continue
            root = source.root(target)
            declared = source.lookup(root) if root is not None else None
            had = declared is not None and (
                declared.value is not None
                or declared.space is Space.PARAMETER
                or _mentions_text(source, value, target)
            )
            constant = number(source, value) is not None or sentinel_sign(source, value) != 0
            if had and not constant and operator(node) in ("=", "*=", "/=", "+=", "-="):
                yield source.edit(statement, ";")


def _mentions_text(source: SourceContext, node: Node, part: Node) -> bool:
    """Return whether an expression contains one with the text of another."""
    text = source.text(part)
    return any(n.type == part.type and source.text(n) == text for n in walk(node))


class UpdateOrderSwapped(Rule):
    """Updates a value before its last use: two neighbouring statements change places."""

    name = "update-order-swapped"
    family = Family.SEMANTIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for block in source.nodes("compound_statement"):
            around = statements(block)
            for first, second in pairwise(around):
                if self._depends(source, first, second):
                    between = source.file.text(first.end_byte, second.start_byte)
                    swapped = f"{source.text(second)}{between}{source.text(first)}"
                    yield Edit(first.start_byte, second.end_byte, swapped)

    def _depends(self, source: SourceContext, first: Node, second: Node) -> bool:
        """Return whether the second statement writes a local value that the first reads."""
        plain = [s for s in (first, second) if s.type == "expression_statement"]
        both = [n for s in plain for n in s.named_children if n.type == "assignment_expression"]
        if len(both) != 2 or len(plain) != 2:
            return False
        read, written = sides(both[0])[1], sides(both[1])[0]
        if operator(both[0]) not in ("=", "+=") or not source.is_float(sides(both[0])[0]):
            return False
        return written.type == "identifier" and mentions(read, source.text(written))
