"""Semantic faults of statements that are stages: updates left out, or in the wrong order."""

# ruff: noqa: D102 (``sites`` is documented where it is declared)

from collections.abc import Iterator
from itertools import pairwise

from tree_sitter import Node

from gpu_eval.mutation.parser import walk
from gpu_eval.mutation.rule import Rule
from gpu_eval.mutation.rules.loops import for_loops
from gpu_eval.mutation.rules.patterns import (
    bare,
    field,
    is_pure,
    mentions,
    sides,
    statement_of,
    statements,
)
from gpu_eval.mutation.rules.stages import applied_to, is_operand
from gpu_eval.mutation.rules.writes import accumulations
from gpu_eval.mutation.sites import Edit, SourceContext
from gpu_eval.mutation.tree import operator
from suiteopt.matrix.schema import Family


class EpilogueOrderSwapped(Rule):
    """Updates a value in the wrong order: ``v *= s; v += b;`` becomes ``v += b; v *= s;``.

    Or what it starts from: ``float v = x + b; v *= s;`` becomes ``float v = x * s + b;``. Or it is
    kept too late: ``float kept = v; v += b;`` becomes ``v += b; float kept = v;``.
    """

    name = "epilogue-order-swapped"
    family = Family.SEMANTIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for block in source.nodes("compound_statement"):
            for first, second in pairwise(statements(block)):
                two = updated(source, second)
                after = self._swapped(source, first, second, two) if two is not None else None
                if after is not None:
                    yield Edit(first.start_byte, second.end_byte, after)

    def _swapped(self, source: SourceContext, first: Node, second: Node, two: Node) -> str | None:
        """Return both statements in the other order, None where that is no fault of this rule."""
        target, one = source.text(sides(two)[0]), updated(source, first)
        exchanged = source.file.text(first.end_byte, second.start_byte).join(
            (source.text(second), source.text(first))
        )
        if one is not None:
            same = source.text(sides(one)[0]) == target
            return exchanged if same and not _commute(one, two) else None
        name, value = _declared(source, first)
        if name is None or value is None:
            return None
        if source.text(name) == target:
            early = _early(source, bare(value), two)
            return source.substitute(first, {value: early}) if early is not None else None
        kept = is_pure(value) and holds(source, value, target)
        return exchanged if kept and not mentions(second, source.text(name)) else None


def _declared(source: SourceContext, statement: Node) -> tuple[Node | None, Node | None]:
    """Return name and value of a declaration of one local float."""
    inner = [c for c in statement.named_children if c.type == "init_declarator"]
    one = len(inner) == 1 and len(statement.children_by_field_name("declarator")) == 1
    if statement.type != "declaration" or not one:
        return None, None
    name, value = field(inner[0], "declarator"), field(inner[0], "value")
    return (name, value) if name.type == "identifier" and source.is_float(value) else (None, None)


def _early(source: SourceContext, value: Node, update: Node) -> str | None:
    """Return ``x op b`` with what comes after it done to ``x``."""
    op, new = operator(value), sides(update)[1]
    if value.type != "binary_expression" or op not in ("+", "-", "*", "/"):
        return None
    left, right = sides(value)
    if not (is_operand(source, left) and is_operand(source, right)):
        return None
    x = source.wrapped(left)
    if operator(update) == "=":
        argument = applied_to(source, bare(new))
        if argument is None or source.text(bare(argument)) != source.text(sides(update)[0]):
            return None
        x = source.substitute(bare(new), {argument: source.text(left)})
    else:
        other = operator(update)[0]
        if {op, other} <= {"+", "-"} or {op, other} <= {"*", "/"}:
            return None
        x = f"({x} {other} {source.wrapped(new)})"
    return f"{x} {op} {source.wrapped(right)}"


def holds(source: SourceContext, node: Node, text: str) -> bool:
    """Return whether a name, a member or an element of this text stands in a node."""
    types = ("identifier", "field_expression", "subscript_expression")
    return any(n.type in types and source.text(n) == text for n in walk(node))


def updated(source: SourceContext, statement: Node) -> Node | None:
    """Return the assignment of a statement that makes a float out of itself."""
    if statement.type != "expression_statement" or len(statement.named_children) != 1:
        return None
    node = statement.named_children[0]
    if node.type != "assignment_expression" or not source.is_float(sides(node)[0]):
        return None
    target, value = sides(node)
    if operator(node) in ("+=", "-=", "*=", "/="):
        return node
    itself = holds(source, value, source.text(target))
    return node if operator(node) == "=" and itself else None


def _commute(one: Node, two: Node) -> bool:
    """Return whether two compound assignments give the same in either order, but for rounding."""
    both = {operator(one), operator(two)}
    return both <= {"+=", "-="} or both <= {"*=", "/="}


class ElementStageLeftOut(Rule):
    """Leaves out what is done to each element of an array once: ``acc[i] += bias[i];``."""

    name = "element-stage-left-out"
    family = Family.SEMANTIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        counted = {loop.node.id: loop.variable for loop in for_loops(source)}
        products = {f.site.id for f in accumulations(source) if f.factors is not None}
        for node in source.nodes("assignment_expression"):
            statement, target = statement_of(source, node), sides(node)[0]
            if statement is None or target.type != "subscript_expression" or node.id in products:
                continue
            if updated(source, statement) is None:
                continue
            variables = [counted.get(loop.id) for loop in source.loops(node)]
            if all(name is not None and mentions(target, name) for name in variables):
                yield source.edit(statement, ";")
