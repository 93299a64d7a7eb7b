"""Shapes of code that several rules look for: comparisons, accumulations, stores, loops."""

from collections.abc import Iterator

from tree_sitter import Node

from gpu_eval.mutation.kinds import SHUFFLES, Kind
from gpu_eval.mutation.parser import walk
from gpu_eval.mutation.sites import SourceContext
from gpu_eval.mutation.tree import arguments, call_name, operator

FMA = frozenset({"fmaf", "fma", "__fmaf_rn"})
EXPONENTIALS = frozenset({"expf", "exp", "__expf", "exp2f"})
ROOTS = frozenset({"sqrtf", "sqrt", "rsqrtf", "rsqrt", "__fsqrt_rn", "__frsqrt_rn"})
CANCELLING = frozenset({"expm1f", "expm1", "log1pf", "log1p"})
ATOMICS = frozenset({"atomicAdd", "atomicSub", "atomicMax", "atomicMin"})
_INFINITE_NAMES = frozenset({"INFINITY", "FLT_MAX", "HUGE_VALF", "CUDART_INF_F", "DBL_MAX"})
_INFINITE_BITS = frozenset({"0xff800000", "0x7f800000", "0xff7fffff", "0x7f7fffff"})
SENTINEL_SIZE = 1e29
_ANY = range(100)
_ARGUMENTS = {
    **dict.fromkeys(FMA, (3,)),
    **dict.fromkeys(EXPONENTIALS | ROOTS | CANCELLING | {"fabsf", "fabs", "tanhf", "erff"}, (1,)),
    **dict.fromkeys(ATOMICS, (2,)),
    **dict.fromkeys(SHUFFLES, (3, 4)),
}


def sides(node: Node) -> tuple[Node, Node]:
    """Return left and right of a binary expression or assignment."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        raise AssertionError(f"{node.type} without two sides")
    return left, right


def field(node: Node, name: str) -> Node:
    """Return a child that the grammar promises."""
    found = node.child_by_field_name(name)
    if found is None:
        raise AssertionError(f"{node.type} without {name}")
    return found


def bare(node: Node) -> Node:
    """Return an expression without parentheses around it."""
    while node.type == "parenthesized_expression" and len(node.named_children) == 1:
        node = node.named_children[0]
    return node


def binaries(source: SourceContext, *operators: str) -> Iterator[Node]:
    """Yield the binary expressions with one of these operators."""
    for node in source.nodes("binary_expression"):
        if operator(node) in operators:
            yield node


def integer_comparisons(source: SourceContext, *operators: str) -> Iterator[Node]:
    """Yield the comparisons of integers with one of these operators."""
    for node in binaries(source, *operators):
        kinds = [source.kind(side) for side in sides(node)]
        if Kind.INTEGER in kinds and all(k in (Kind.INTEGER, Kind.UNKNOWN) for k in kinds):
            yield node


def float_comparisons(source: SourceContext, *operators: str) -> Iterator[Node]:
    """Yield the comparisons of floats with one of these operators."""
    for node in binaries(source, *operators):
        if any(source.is_float(side) for side in sides(node)):
            yield node


def calls(source: SourceContext, *names: str) -> Iterator[Node]:
    """Yield the calls of these functions that have the arguments the name promises."""
    for node in source.nodes("call_expression"):
        name = call_name(node)
        if name in names and len(arguments(node)) in _ARGUMENTS.get(name, _ANY):
            yield node


def number(source: SourceContext, node: Node) -> float | None:
    """Return the value of a number literal, signs and parentheses allowed; None otherwise."""
    node = bare(node)
    if node.type == "unary_expression" and operator(node) == "-":
        inner = number(source, field(node, "argument"))
        return None if inner is None else -inner
    if node.type != "number_literal":
        return None
    text = source.text(node).replace("'", "").lower()
    try:
        if text.lstrip("+-").startswith("0x"):
            return float(int(text.rstrip("ul"), 16))
        return float(text.rstrip("ful"))
    except ValueError:
        return None


def sentinel_sign(source: SourceContext, node: Node) -> int:
    """Return -1 or 1 for an expression that stands for an infinity or the largest float, else 0.

    Known are the usual names, literals beyond 1e29, bit patterns, and constants at file scope
    that are initialised with one of these.
    """
    node = bare(node)
    if node.type == "unary_expression" and operator(node) == "-":
        return -sentinel_sign(source, field(node, "argument"))
    if node.type == "number_literal":
        value = number(source, node)
        if value is None or not source.is_float(node) or abs(value) < SENTINEL_SIZE:
            return 0
        return 1 if value > 0 else -1
    if node.type == "identifier":
        if source.text(node) in _INFINITE_NAMES:
            return 1
        declared = source.lookup(node)
        if declared is None or declared.value is None:
            return 0
        if b"const" not in (declared.node.text or b""):
            return 0
        itself = mentions(declared.value, declared.name)
        return 0 if itself else sentinel_sign(source, declared.value)
    if node.type == "call_expression" and call_name(node) in ("__int_as_float", "__uint_as_float"):
        bits = "".join(map(source.text, arguments(node))).lower().rstrip("ul")
        if bits in _INFINITE_BITS:
            return -1 if bits.startswith("0xff") else 1
    return 0


def statement_of(source: SourceContext, node: Node) -> Node | None:
    """Return the expression statement that consists of a node alone."""
    above = source.parent(node)
    return above if above is not None and above.type == "expression_statement" else None


def statements(block: Node) -> list[Node]:
    """Return the statements of a block."""
    return [c for c in block.named_children if c.type not in ("comment", "preproc_call")]


def is_call_statement(node: Node, *names: str) -> bool:
    """Return whether a statement is a call of one of these functions and nothing else."""
    if node.type != "expression_statement" or not node.named_children:
        return False
    inner = node.named_children[0]
    return inner.type == "call_expression" and call_name(inner) in names


def names_in(node: Node) -> set[str]:
    """Return the identifiers that stand in a node."""
    return {(n.text or b"").decode() for n in walk(node) if n.type == "identifier"}


def mentions(node: Node, *names: str) -> bool:
    """Return whether one of these identifiers stands in a node."""
    return not names_in(node).isdisjoint(names)


def is_pure(node: Node) -> bool:
    """Return whether evaluating an expression twice is the same as once: it writes nothing."""
    writes = ("assignment_expression", "update_expression")
    for below in walk(node):
        if below.type in writes:
            return False
        if below.type == "call_expression" and call_name(below).startswith(("atomic", "__shfl")):
            return False
    return True
