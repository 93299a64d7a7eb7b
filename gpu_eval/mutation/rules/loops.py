"""Counted loops as rules see them."""

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from gpu_eval.mutation.parser import walk
from gpu_eval.mutation.rules.patterns import field, sides
from gpu_eval.mutation.sites import SourceContext
from gpu_eval.mutation.tree import operator


@dataclass(frozen=True)
class Loop:
    """A counted ``for`` loop: ``for (variable = start; variable < bound; variable += step)``.

    ``step`` is the text of the step of an additive loop, None for any other.
    """

    node: Node
    variable: str
    start: Node
    condition: Node
    bound: Node
    update: Node
    step: str | None
    body: Node


def for_loops(source: SourceContext) -> Iterator[Loop]:
    """Yield the ``for`` loops that count a variable against a bound."""
    for node in source.nodes("for_statement"):
        start = _start(node)
        condition, update = (
            node.child_by_field_name("condition"),
            node.child_by_field_name("update"),
        )
        body = node.child_by_field_name("body")
        if start is None or condition is None or update is None or body is None:
            continue
        if condition.type != "binary_expression":
            continue
        variable, value = start
        left, right = sides(condition)
        if source.text(left) == variable:
            step = _step(source, update, variable)
            yield Loop(node, variable, value, condition, right, update, step, body)


def _start(node: Node) -> tuple[str, Node] | None:
    first = node.child_by_field_name("initializer")
    if first is None:
        return None
    for below in walk(first):
        if below.type == "init_declarator":
            name, value = field(below, "declarator"), below.child_by_field_name("value")
            if name.type == "identifier" and value is not None:
                return (name.text or b"").decode(), value
            return None
        if below.type == "assignment_expression":
            left, right = sides(below)
            return (left.text or b"").decode(), right
    return None


def _step(source: SourceContext, update: Node, variable: str) -> str | None:
    if update.type == "update_expression":
        return "1" if operator(update) == "++" else None
    if update.type == "assignment_expression" and operator(update) == "+=":
        left, right = sides(update)
        return source.text(right) if source.text(left) == variable else None
    return None
