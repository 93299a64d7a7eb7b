"""Small questions to syntax nodes."""

from tree_sitter import Node

from gpu_eval.mutation.kinds import Kind


def literal_kind(text: str) -> Kind:
    """Return whether a number literal is a float or an integer."""
    low = text.lower().lstrip("+-")
    if low.startswith(("0x", "0b")) and "p" not in low:
        return Kind.INTEGER
    return Kind.FLOAT if any(c in low for c in ".ef") else Kind.INTEGER


def operator(node: Node) -> str:
    """Return the operator of an expression, empty if it has none."""
    found = node.child_by_field_name("operator")
    return found.type if found is not None else ""


def call_name(node: Node) -> str:
    """Return the name of the called function, template arguments left out."""
    function = node.child_by_field_name("function")
    if function is not None and function.type == "template_function":
        function = function.child_by_field_name("name")
    return (function.text or b"").decode() if function is not None else ""


def arguments(node: Node) -> list[Node]:
    """Return the arguments of a call."""
    found = node.child_by_field_name("arguments")
    return [] if found is None else [c for c in found.named_children if c.type != "comment"]


def function_name(function: Node) -> str:
    """Return the name of a function definition."""
    declarator = function.child_by_field_name("declarator")
    while declarator is not None and declarator.type not in ("identifier", "field_identifier"):
        declarator = declarator.child_by_field_name("declarator")
    return (declarator.text or b"").decode() if declarator is not None else ""


def is_kernel(function: Node) -> bool:
    """Return whether a function definition is a ``__global__`` one."""
    return any(c.type == "__global__" or c.text == b"__global__" for c in function.children)
