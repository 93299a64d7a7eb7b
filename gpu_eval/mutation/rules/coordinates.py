"""Coordinates of a thread's work as rules see them: rows, columns, channels, groups."""

from dataclasses import dataclass

from tree_sitter import Node

from gpu_eval.mutation.kinds import Declared, Kind, Space
from gpu_eval.mutation.parser import walk
from gpu_eval.mutation.rules.patterns import bare, field, mentions, names_in, sides
from gpu_eval.mutation.sites import LOOPS, SourceContext
from gpu_eval.mutation.tree import operator

_DEPTH = 6  # declarations from declarations that are followed
_PLACES = frozenset({"threadIdx", "blockIdx"})
_EXTENTS = frozenset({"blockDim", "gridDim", "static_cast"})


def coordinates(source: SourceContext, node: Node) -> dict[str, Declared]:
    """Return the local integers visible at a node that say where a thread works.

    That is what counts a loop, or is computed from a thread's or block's place or from another
    coordinate.
    """
    found = source.visible(node)
    return {name: d for name, d in found.items() if _is_coordinate(source, d, 0)}


def is_address(source: SourceContext, declared: Declared) -> bool:
    """Return whether a name is a sum that holds a product with an extent: a place in a tensor."""
    extents = source.integer_parameters(declared.node)
    return declared.value is not None and _steps(bare(declared.value), extents)


def begins_row(source: SourceContext, declared: Declared) -> bool:
    """Return whether a name is a product with an extent and nothing else: where a row begins."""
    value = bare(declared.value) if declared.value is not None else None
    product = value is not None and operator(value) == "*"
    return product and is_address(source, declared)


def _steps(node: Node, extents: list[str]) -> bool:
    if node.type != "binary_expression":
        return False
    if operator(node) in ("+", "-"):
        return any(_steps(bare(side), extents) for side in sides(node))
    return operator(node) == "*" and mentions(node, *extents)


def _is_coordinate(source: SourceContext, declared: Declared, depth: int) -> bool:
    if declared.space is not Space.LOCAL or declared.kind is not Kind.INTEGER:
        return False
    if _counts_loop(source, declared):
        return True
    if declared.value is None or depth > _DEPTH:
        return False
    held = names_in(declared.value)
    if not held.isdisjoint(_PLACES):
        return True
    visible = source.visible(declared.value)
    return any(
        _is_coordinate(source, visible[name], depth + 1)
        for name in held
        if name in visible and visible[name].node.id != declared.node.id
    )


def _counts_loop(source: SourceContext, declared: Declared) -> bool:
    above = source.parent(declared.node)
    return above is not None and above.type in LOOPS


def derives(source: SourceContext, one: Declared, other: Declared) -> bool:
    """Return whether the first of two names is computed from the second."""
    pending, seen = [one], {one.name}
    while pending:
        current = pending.pop()
        if current.value is None:
            continue
        visible = source.visible(current.value)
        for name in names_in(current.value) - seen:
            if name == other.name:
                return True
            seen.add(name)
            if name in visible:
                pending.append(visible[name])
    return False


def axes(source: SourceContext, node: Node) -> set[str]:
    """Return the names that stand in an index of global memory or in an address, in a function."""
    function = source.function(node)
    found: set[str] = set()
    for below in walk(function) if function is not None else ():
        if below.type == "subscript_expression" and source.space(below) is Space.GLOBAL:
            indices = below.child_by_field_name("indices")
            found |= names_in(indices) if indices is not None else set()
        elif below.type == "init_declarator":
            value = field(below, "value")
            product = any(operator(n) == "*" for n in walk(value))
            if product and source.kind(value) in (Kind.INTEGER, Kind.POINTER):
                found |= names_in(value)
    return found


def is_group(source: SourceContext, node: Node, depth: int = 0) -> bool:
    """Return whether an integer is the same for all threads of a block, and says which block."""
    held = names_in(node)
    visible = source.visible(node)
    found = "blockIdx" in held
    for name in held - _EXTENTS - {"blockIdx"}:
        declared = visible.get(name)
        if declared is None:
            if name not in source.globals.objects:
                return False
            continue
        if declared.space is Space.PARAMETER and declared.kind is Kind.INTEGER:
            continue
        same = declared.value is not None and depth < _DEPTH
        if not same or declared.value is None or _counts_loop(source, declared):
            return False
        if declared.kind is not Kind.INTEGER or not is_group(source, declared.value, depth + 1):
            return False
        found = True
    return found


@dataclass(frozen=True, slots=True)
class GroupOffset:
    """Where a group's elements begin: texts of group and stride, and the names in both."""

    group: str
    stride: str
    names: frozenset[str]


def group_offset(source: SourceContext, node: Node) -> GroupOffset | None:
    """Return the product ``group * stride`` in a sum.

    The product may have more factors; the group is the only one that says where a block or, by
    a name of its own, a warp or a thread works.
    """
    node = bare(node)
    if node.type != "binary_expression":
        return None
    if operator(node) in ("+", "-"):
        return next((f for s in sides(node) if (f := group_offset(source, s)) is not None), None)
    if operator(node) != "*":
        return None
    factors = _factors(node)
    groups = [f for f in factors if is_group(source, f) or _is_row(source, f)]
    places = [f for f in factors if not names_in(f).isdisjoint(_PLACES)]
    if len(groups) != 1 or places not in ([], groups) or mentions(node, "blockDim"):
        return None  # with a block's size it is the place of a thread
    others = [f for f in factors if f.id != groups[0].id]
    if not any(_mentions_extent(source, f) for f in others):
        return None  # a fixed number of elements is a tile, no group
    held = frozenset().union(*(names_in(f) for f in factors)) - _PLACES - _EXTENTS
    return GroupOffset(source.wrapped(groups[0]), " * ".join(map(source.wrapped, others)), held)


def _mentions_extent(source: SourceContext, node: Node) -> bool:
    """Return whether a factor depends on an extent that was passed in, or on the grid's."""
    pending, seen = [node], set[str]()
    while pending:
        current = pending.pop()
        held = names_in(current)
        if "gridDim" in held or not held.isdisjoint(source.integer_parameters(node)):
            return True
        visible = source.visible(current)
        for name in held - seen:
            value = visible[name].value if name in visible else None
            if value is not None:
                pending.append(value)
        seen |= held
    return False


def _is_row(source: SourceContext, node: Node) -> bool:
    """Return whether a factor names what a warp or row of threads has to itself."""
    held = names_in(node) - _EXTENTS
    known = coordinates(source, node)
    return len(held) == 1 and held <= set(known) and not _differs(source, node, 0)


def _differs(source: SourceContext, node: Node, depth: int) -> bool:
    """Return whether an integer differs between the lanes of a warp or the rounds of a loop."""
    if node.type == "binary_expression" and operator(node) in ("/", ">>"):
        return False  # whole warps, or runs of elements
    if node.type == "field_expression":
        return source.text(node) == "threadIdx.x"
    declared = source.visible(node).get(source.text(node)) if node.type == "identifier" else None
    if declared is None:
        return any(_differs(source, child, depth) for child in node.named_children)
    if _counts_loop(source, declared) or depth > _DEPTH:
        return True
    return declared.value is not None and _differs(source, declared.value, depth + 1)


def _factors(node: Node) -> list[Node]:
    inner = bare(node)
    if inner.type == "binary_expression" and operator(inner) == "*":
        left, right = sides(inner)
        return _factors(left) + _factors(right)
    return [node]
