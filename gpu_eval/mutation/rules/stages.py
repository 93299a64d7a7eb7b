"""Semantic faults between the stages of a fused kernel: left out, or in the wrong order.

A stage is a function of one value (an activation, a clamp), an operation with an operand (a bias,
a scale, a residual) or a statement that updates a value in place.
"""

# ruff: noqa: D102 (``sites`` is documented where it is declared)

from collections.abc import Iterator
from itertools import pairwise

from tree_sitter import Node

from gpu_eval.mutation.kinds import Kind, base_kind
from gpu_eval.mutation.parser import walk
from gpu_eval.mutation.rule import Rule
from gpu_eval.mutation.rules.loops import for_loops
from gpu_eval.mutation.rules.patterns import (
    bare,
    binaries,
    field,
    is_pure,
    mentions,
    number,
    sentinel_sign,
    sides,
    statement_of,
    statements,
)
from gpu_eval.mutation.rules.semantic import MAXIMA, MINIMA
from gpu_eval.mutation.rules.writes import accumulations
from gpu_eval.mutation.sites import Edit, SourceContext
from gpu_eval.mutation.tree import arguments, call_name, operator
from suiteopt.matrix.schema import Family

_OF_ONE_NAMES = (
    "expf exp2f expm1f logf log2f log10f log1pf tanhf erff erfcf sinf cosf sinhf coshf __expf "
    "__logf exp log tanh erf"
)
OF_ONE = frozenset(_OF_ONE_NAMES.split())
"""Functions of the language that activations are made of; roots have rules of their own."""


class FunctionLeftOut(Rule):
    """Leaves a function out: ``act(x)`` becomes ``x``."""

    name = "function-left-out"
    family = Family.SEMANTIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in source.nodes("call_expression"):
            argument = applied_to(source, node) or _reduced(source, node)
            if argument is None or _assigns_itself(source, node, argument):
                continue
            yield source.edit(node, source.wrapped(argument))


def applied_to(source: SourceContext, node: Node) -> Node | None:
    """Return the value that a call is a function of, if it is one of a single thread's value.

    Known are the functions above, clamps by a number, and the file's own functions whose first
    argument is of the kind that they return.
    """
    name, given = call_name(node), arguments(node)
    if node.type != "call_expression" or not given or not is_pure(node):
        return None
    if name in OF_ONE and len(given) == 1 and source.is_float(node):
        return given[0]
    if name in MAXIMA + MINIMA and len(given) == 2 and source.is_float(node):
        limits = [number(source, a) is not None for a in given]
        return given[limits.index(False)] if limits.count(True) == 1 else None
    own = name in source.globals.functions and name not in source.globals.exchanging
    return given[0] if own and _keeps_kind(source, node) else None


def _keeps_kind(source: SourceContext, node: Node) -> bool:
    """Return whether a function of the sources gives what its first argument is."""
    returned = base_kind(source.globals.functions[call_name(node)])
    alike = returned in (Kind.FLOAT, Kind.VECTOR)
    return alike and source.kind(arguments(node)[0]) is returned


def _reduced(source: SourceContext, node: Node) -> Node | None:
    """Return the value that a function of the sources exchanges between threads."""
    given = arguments(node)
    known = call_name(node) in source.globals.functions
    return given[0] if given and known and _keeps_kind(source, node) else None


def _assigns_itself(source: SourceContext, node: Node, argument: Node) -> bool:
    """Return whether only ``x = x`` would be left, which `StageLeftOut` makes."""
    above = source.parent(node)
    if above is None or above.type != "assignment_expression" or operator(above) != "=":
        return False
    target, value = sides(above)
    return value.id == node.id and source.text(target) == source.text(argument)


class FunctionOrderSwapped(Rule):
    """Applies a function too late or too early: ``act(x) + b`` becomes ``act(x + b)``, and back."""

    name = "function-order-swapped"
    family = Family.SEMANTIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in binaries(source, "+", "-", "*", "/"):
            if source.is_float(node):
                yield from self._too_late(source, node)
        for node in source.nodes("call_expression"):
            argument = applied_to(source, node)
            inner = bare(argument) if argument is not None else None
            if argument is None or inner is None or inner.type != "binary_expression":
                continue
            left, right = sides(inner)
            operands = _is_operand(source, left) and _is_operand(source, right)
            if operands and operator(inner) in ("+", "-", "*", "/"):
                early = source.substitute(node, {argument: source.text(left)})
                after = f"{early} {operator(inner)} {source.wrapped(right)}"
                yield source.edit(node, after, atomic=False)

    def _too_late(self, source: SourceContext, node: Node) -> Iterator[Edit]:
        left, right = sides(node)
        found = [applied_to(source, bare(side)) for side in (left, right)]
        if found.count(None) != 1:
            return
        call, other, argument = (
            (right, left, found[1]) if found[0] is None else (left, right, found[0])
        )
        if argument is None or not _is_operand(source, other):
            return
        if source.text(bare(other)) != source.text(bare(argument)):
            terms = {call: source.wrapped(argument)}
            inside = source.substitute(node, terms)
            yield source.edit(node, source.substitute(bare(call), {argument: inside}))


def _is_operand(source: SourceContext, node: Node) -> bool:
    """Return whether a value may be a stage's operand: a float that is no literal."""
    constant = number(source, node) is not None or sentinel_sign(source, node) != 0
    return source.is_float(node) and not constant


class CallsExchanged(Rule):
    """Applies two functions in the wrong order: ``f(g(x))`` becomes ``g(f(x))``."""

    name = "calls-exchanged"
    family = Family.SEMANTIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in source.nodes("call_expression"):
            outer = applied_to(source, node)
            call = bare(outer) if outer is not None else None
            inner = applied_to(source, call) if call is not None else None
            if outer is None or call is None or inner is None:
                continue
            clamps = {call_name(node), call_name(call)} <= {*MAXIMA, *MINIMA}  # either order
            if call_name(node) != call_name(call) and not clamps:
                first = source.substitute(node, {outer: source.text(inner)})
                yield source.edit(node, source.substitute(call, {inner: first}))


class EpilogueOrderSwapped(Rule):
    """Updates a value in the wrong order: ``v *= s; v += b;`` becomes ``v += b; v *= s;``.

    Or keeps a value too late: ``float kept = v; v += b;`` becomes ``v += b; float kept = v;``.
    """

    name = "epilogue-order-swapped"
    family = Family.SEMANTIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for block in source.nodes("compound_statement"):
            for first, second in pairwise(statements(block)):
                two = updated(source, second)
                if two is None:
                    continue
                target = source.text(sides(two)[0])
                one = updated(source, first)
                same = one is not None and source.text(sides(one)[0]) == target
                if (one is not None and same and not _commute(one, two)) or (
                    one is None and _keeps(source, first, second, target)
                ):
                    between = source.file.text(first.end_byte, second.start_byte)
                    swapped = f"{source.text(second)}{between}{source.text(first)}"
                    yield Edit(first.start_byte, second.end_byte, swapped)


def _keeps(source: SourceContext, first: Node, second: Node, target: str) -> bool:
    """Return whether a statement declares a float from a name that the next one updates."""
    if first.type != "declaration" or "__shared__" in source.text(first):
        return False
    inner = [c for c in first.named_children if c.type == "init_declarator"]
    if len(inner) != 1 or len(first.children_by_field_name("declarator")) != 1:
        return False
    name, value = field(inner[0], "declarator"), field(inner[0], "value")
    if name.type != "identifier" or not source.is_float(value) or not is_pure(value):
        return False
    return holds(source, value, target) and not mentions(second, source.text(name))


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
