"""Semantic faults of functions that are stages: activations left out, or applied out of order."""

# ruff: noqa: D102 (``sites`` is documented where it is declared)

from collections.abc import Iterator

from tree_sitter import Node

from gpu_eval.mutation.kinds import Kind, Space, base_kind
from gpu_eval.mutation.rule import Rule
from gpu_eval.mutation.rules.patterns import (
    bare,
    binaries,
    is_pure,
    number,
    sentinel_sign,
    sides,
)
from gpu_eval.mutation.rules.semantic import MAXIMA, MINIMA
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

    Known are the functions above, clamps by a number, and the sources' own functions whose first
    argument is of the kind that they return, further ones being settings such as a slope.
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
    value, *settings = arguments(node)
    alike = returned in (Kind.FLOAT, Kind.VECTOR) and source.kind(value) is returned
    return alike and all(_is_setting(source, one) for one in settings)


def _is_setting(source: SourceContext, node: Node) -> bool:
    """Return whether an argument is no second value: a pointer, an integer, or set from outside."""
    if source.kind(node) not in (Kind.FLOAT, Kind.VECTOR) or number(source, node) is not None:
        return True
    declared = source.lookup(node) if node.type == "identifier" else None
    return declared is not None and declared.space in (Space.PARAMETER, Space.CONSTANT)


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
            operands = is_operand(source, left) and is_operand(source, right)
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
        if argument is None or not is_operand(source, other):
            return
        if source.text(bare(other)) != source.text(bare(argument)):
            terms = {call: source.wrapped(argument)}
            inside = source.substitute(node, terms)
            yield source.edit(node, source.substitute(bare(call), {argument: inside}))


def is_operand(source: SourceContext, node: Node) -> bool:
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
