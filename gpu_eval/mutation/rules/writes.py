"""Accumulations, stores and subscripts as rules see them."""

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from gpu_eval.mutation.kinds import Space
from gpu_eval.mutation.rules.patterns import FMA, bare, sides
from gpu_eval.mutation.sites import SourceContext
from gpu_eval.mutation.tree import arguments, call_name, operator


@dataclass(frozen=True)
class Accumulation:
    """``target += term`` in any of its forms.

    Attributes
    ----------
    site : Node
        The assignment.
    target : Node
    term : str
        Text of what is added (``a * b`` for a fused multiply-add).
    factors : tuple of two nodes, or None
        If the term is a product.
    compound : bool
        Written with ``+=``.
    """

    site: Node
    target: Node
    term: str
    factors: tuple[Node, Node] | None
    compound: bool


def accumulations(source: SourceContext) -> Iterator[Accumulation]:
    """Yield every accumulation of floats in the file."""
    for node in source.nodes("assignment_expression"):
        target, value = sides(node)
        if not source.is_float(target):
            continue
        if operator(node) == "+=":
            yield Accumulation(node, target, source.text(value), _factors(value), True)
            continue
        name, value = source.text(target), bare(value)
        if operator(node) != "=":
            continue
        if value.type == "binary_expression" and operator(value) == "+":
            left, right = sides(value)
            for same, term in ((left, right), (right, left)):
                if source.text(bare(same)) == name:
                    text = source.text(term)
                    yield Accumulation(node, target, text, _factors(term), False)
                    break
        elif value.type == "call_expression" and call_name(value) in FMA:
            given = arguments(value)
            if len(given) == 3 and source.text(bare(given[2])) == name:
                a, b = given[0], given[1]
                term_text = f"{source.wrapped(a)} * {source.wrapped(b)}"
                yield Accumulation(node, target, term_text, (a, b), False)


def _factors(node: Node) -> tuple[Node, Node] | None:
    node = bare(node)
    if node.type == "binary_expression" and operator(node) == "*":
        return sides(node)
    return None


def stores(source: SourceContext, *spaces: Space) -> Iterator[Node]:
    """Yield the plain assignments (``=``) of floats to memory in one of these spaces."""
    for node in source.nodes("assignment_expression"):
        target = sides(node)[0]
        if operator(node) != "=" or target.type not in (
            "subscript_expression",
            "pointer_expression",
        ):
            continue
        if source.is_float(target) and source.space(target) in spaces:
            yield node


def subscripts(source: SourceContext, *spaces: Space) -> Iterator[tuple[Node, Node]]:
    """Yield subscript expressions into memory in one of these spaces, each with its index."""
    for node in source.nodes("subscript_expression"):
        index = index_of(node)
        if index is not None and source.space(node) in spaces:
            yield node, index


def index_of(subscript: Node) -> Node | None:
    """Return the index of a subscript expression."""
    found = subscript.child_by_field_name("indices")
    inner = [c for c in found.named_children if c.type != "comment"] if found is not None else []
    return inner[0] if len(inner) == 1 else None


def is_written(source: SourceContext, node: Node) -> bool:
    """Return whether a node is (the outermost part of) what an assignment writes to."""
    above = source.parent(node)
    while above is not None and above.type in ("subscript_expression", "field_expression"):
        argument = above.child_by_field_name("argument")
        if argument is None or argument.id != node.id:
            return False
        node, above = above, source.parent(above)
    if above is None or above.type not in ("assignment_expression", "update_expression"):
        return False
    left = above.child_by_field_name("left") or above.child_by_field_name("argument")
    return left is not None and left.id == node.id
