"""Kinds of expressions, from the declarations that a source context knows."""

from typing import TYPE_CHECKING

from tree_sitter import Node

from gpu_eval.mutation import kinds
from gpu_eval.mutation.kinds import Kind
from gpu_eval.mutation.parser import walk
from gpu_eval.mutation.tree import arguments, call_name, literal_kind, operator

if TYPE_CHECKING:
    from gpu_eval.mutation.sites import SourceContext


def infer(context: "SourceContext", node: Node) -> Kind:
    """Infer the kind of an expression; see `Kind`."""
    child = node.child_by_field_name
    match node.type:
        case "number_literal":
            return literal_kind(context.text(node))
        case "true" | "false":
            return Kind.BOOL
        case "identifier":
            declared = context.lookup(node)
            if declared is not None and declared.base == "auto" and not declared.levels:
                return context.kind(declared.value)
            return Kind.UNKNOWN if declared is None else declared.kind
        case "parenthesized_expression":
            return context.kind(node.named_children[0]) if node.named_children else Kind.UNKNOWN
        case "binary_expression":
            return _binary_kind(context, node)
        case "unary_expression":
            return Kind.BOOL if operator(node) == "!" else context.kind(child("argument"))
        case "update_expression":
            return context.kind(child("argument"))
        case "assignment_expression":
            return context.kind(child("left"))
        case "conditional_expression":
            first = context.kind(child("consequence"))
            return first if first is not Kind.UNKNOWN else context.kind(child("alternative"))
        case "pointer_expression" if operator(node) == "&":
            return Kind.POINTER
        case "subscript_expression" | "pointer_expression":
            return _element_kind(context, node)
        case "field_expression":
            return _field_kind(context, node)
        case "cast_expression":
            return _type_kind(child("type"))
        case "call_expression":
            return _call_kind(context, node)
    return Kind.UNKNOWN


def _binary_kind(context: "SourceContext", node: Node) -> Kind:
    op = operator(node)
    if op in ("<", ">", "<=", ">=", "==", "!=", "&&", "||"):
        return Kind.BOOL
    sides = {context.kind(node.child_by_field_name(f)) for f in ("left", "right")}
    for kind in (Kind.POINTER, Kind.VECTOR, Kind.FLOAT, Kind.UNKNOWN):
        if kind in sides:
            return kind
    return Kind.INTEGER


def _element_kind(context: "SourceContext", node: Node) -> Kind:
    """Return the kind of ``base[...]``, ``base[...][...]`` and ``*base``."""
    depth, current = 0, node
    while current.type in ("subscript_expression", "pointer_expression"):
        inner = current.child_by_field_name("argument")
        if inner is None:
            return Kind.UNKNOWN
        depth += 1 if current.type == "subscript_expression" or operator(current) == "*" else -1
        current = inner
    while current.type == "parenthesized_expression" and current.named_children:
        current = current.named_children[0]
    for below in [current, *current.named_children]:
        if below.type in ("template_function", "cast_expression"):
            described = next((n for n in walk(below) if n.type == "type_descriptor"), None)
            if described is not None:
                return kinds.base_kind(kinds.type_base(described.child_by_field_name("type")))
    name = context.root(current)
    declared = context.lookup(name) if name is not None else None
    if declared is None:
        return Kind.UNKNOWN
    return kinds.base_kind(declared.base) if depth >= declared.levels else Kind.POINTER


def _field_kind(context: "SourceContext", node: Node) -> Kind:
    inner, name = node.child_by_field_name("argument"), node.child_by_field_name("field")
    if inner is None or name is None:
        return Kind.UNKNOWN
    if context.text(inner) in kinds.BUILTIN_VECTORS:
        return Kind.INTEGER
    if context.kind(inner) is Kind.VECTOR:
        root = context.root(inner)
        declared = context.lookup(root) if root is not None else None
        integers = declared is not None and declared.base in kinds.INTEGER_VECTORS
        return Kind.INTEGER if integers else Kind.FLOAT
    member = context.globals.fields.get(context.text(name))
    return member.kind if member is not None else Kind.UNKNOWN


def _type_kind(node: Node | None) -> Kind:
    if node is None:
        return Kind.UNKNOWN
    if node.child_by_field_name("declarator") is not None:
        return Kind.POINTER
    return kinds.base_kind(kinds.type_base(node.child_by_field_name("type")))


def _call_kind(context: "SourceContext", node: Node) -> Kind:
    name = call_name(node)
    function = node.child_by_field_name("function")
    if name in ("static_cast", "reinterpret_cast") and function is not None:
        return _type_kind(next((n for n in walk(function) if n.type == "type_descriptor"), None))
    if name in kinds.FLOAT_FUNCTIONS:
        return Kind.FLOAT
    if name in kinds.INTEGER_FUNCTIONS:
        return Kind.INTEGER
    given = arguments(node)
    if name in kinds.SHUFFLES and len(given) >= 2:
        return context.kind(given[1])
    if name in kinds.SAME_AS_ARGUMENTS and given:
        found = [context.kind(a) for a in given]
        return Kind.FLOAT if Kind.FLOAT in found else found[-1]
    if name.startswith("make_"):
        return Kind.VECTOR
    returned = context.globals.functions.get(name)
    return kinds.base_kind(returned if returned is not None else name)
