"""Boundary faults of loops: first or last iterations skipped, steps and counts wrong."""

# ruff: noqa: D102 (``sites`` is documented where it is declared)

from collections.abc import Iterator

from tree_sitter import Node

from gpu_eval.mutation.kinds import Space
from gpu_eval.mutation.rule import Rule
from gpu_eval.mutation.rules.loops import for_loops
from gpu_eval.mutation.rules.patterns import bare, binaries, field, mentions, number, sides
from gpu_eval.mutation.sites import Edit, SourceContext
from gpu_eval.mutation.tree import operator
from suiteopt.matrix.schema import Family

CAP = 128
VECTOR_WIDTHS = frozenset({2.0, 4.0, 8.0})


class LoopBoundMinusOne(Rule):
    """Skips the last element of a loop: ``k < n`` becomes ``k < n - 1``."""

    name = "loop-bound-minus-one"
    family = Family.BOUNDARY

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for loop in for_loops(source):
            if operator(loop.condition) == "<" and loop.step is not None:
                text = source.wrapped(loop.bound)
                value = number(source, loop.bound)
                shorter = f"{text} - 1" if value is None else str(int(value) - 1)
                yield source.swap(loop.condition, {loop.bound: shorter})


class TileLastSkipped(Rule):
    """Skips the last tile or the last stride: ``t < n`` becomes ``t < n - step``."""

    name = "tile-last-skipped"
    family = Family.BOUNDARY

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for loop in for_loops(source):
            if operator(loop.condition) == "<" and loop.step not in (None, "1"):
                shorter = f"{source.wrapped(loop.bound)} - ({loop.step})"
                yield source.swap(loop.condition, {loop.bound: shorter})


class LoopStartPlusOne(Rule):
    """Skips the first element of a loop: it starts one further."""

    name = "loop-start-plus-one"
    family = Family.BOUNDARY

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for loop in for_loops(source):
            if loop.step is None:
                continue
            value = number(source, loop.start)
            text = source.wrapped(loop.start)
            yield source.edit(loop.start, f"{text} + 1" if value is None else str(int(value) + 1))


class LoopStepDoubled(Rule):
    """Skips every second element: the step of a loop is doubled."""

    name = "loop-step-doubled"
    family = Family.BOUNDARY

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for loop in for_loops(source):
            if loop.step is not None and not _is_constant(source, loop.bound):
                step = "2" if loop.step == "1" else f"2 * ({loop.step})"
                yield source.edit(loop.update, f"{loop.variable} += {step}")


def _is_constant(source: SourceContext, bound: Node) -> bool:
    """Return whether a bound is known at compile time, by a literal or a name at file scope."""
    declared = source.lookup(bound) if bound.type == "identifier" else None
    named = declared is not None and declared.space is Space.CONSTANT
    return named or number(source, bound) is not None


class ExtentCapped(Rule):
    """Handles a hard-coded length at most: ``k < n`` becomes ``k < (n < 128 ? n : 128)``."""

    name = "extent-capped"
    family = Family.BOUNDARY

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for loop in for_loops(source):
            bound = loop.bound
            if operator(loop.condition) != "<" or loop.step is None or bound.type != "identifier":
                continue
            declared = source.lookup(bound)
            if declared is not None and declared.space is Space.PARAMETER:
                name = source.text(bound)
                yield source.swap(loop.condition, {bound: f"({name} < {CAP} ? {name} : {CAP})"})


class TailLoopDropped(Rule):
    """Leaves out the loop for what a vectorised loop leaves over."""

    name = "tail-loop-dropped"
    family = Family.BOUNDARY

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        before: set[tuple[int, str]] = set()  # function and bound of the loops so far
        for loop in for_loops(source):
            function = source.function(loop.node)
            key = function.id if function is not None else 0
            counts = {name for where, name in before if where == key}
            if _is_vector_end(source, loop.start) or _goes_on(source, loop.start, counts):
                yield source.edit(loop.node, ";")
            before.add((key, source.text(loop.bound)))


def _goes_on(source: SourceContext, start: Node, counts: set[str]) -> bool:
    """Return whether a start is where a loop over so many vectors left off: ``vectors * 4 + t``."""
    start = bare(start)
    if start.type != "binary_expression":
        return False
    left, right = sides(start)
    if operator(start) == "+":
        return _goes_on(source, left, counts) or _goes_on(source, right, counts)
    factors = {number(source, left), number(source, right)}
    named = {source.text(bare(left)), source.text(bare(right))} & counts
    return operator(start) == "*" and bool(factors & VECTOR_WIDTHS) and bool(named)


def _is_vector_end(source: SourceContext, start: Node) -> bool:
    """Return whether a start is a multiple of a vector's width: ``n4 * 4 + t``, ``n & ~3``."""
    start = bare(start)
    if start.type == "identifier":
        declared = source.lookup(start)
        value = declared.value if declared is not None else None
        if value is None or mentions(value, source.text(start)):
            return False
        return source.is_integer(value) and _is_vector_end(source, value)
    if start.type != "binary_expression":
        return False
    left, right = sides(start)
    match operator(start):
        case "+":
            return _is_vector_end(source, left) or _is_vector_end(source, right)
        case "&":
            return source.text(right).startswith("~")
        case "*":
            factors = {number(source, left), number(source, right)}
            return bool(factors & VECTOR_WIDTHS) and _is_quotient(source, left, right)
        case "-":
            inner = bare(right)
            return inner.type == "binary_expression" and operator(inner) == "%"
    return False


def _is_quotient(source: SourceContext, *factors: Node) -> bool:
    """Return whether one factor counts vectors: it is, or was initialised with, a quotient."""
    for factor in map(bare, factors):
        value: Node | None = factor
        if factor.type == "identifier":
            declared = source.lookup(factor)
            value = declared.value if declared is not None else None
        quotient = value is not None and bare(value).type == "binary_expression"
        if quotient and value is not None and operator(bare(value)) in ("/", ">>"):
            return True
    return False


class TreeShiftTwo(Rule):
    """Skips every second level of a tree reduction: ``s >>= 1`` becomes ``s >>= 2``."""

    name = "tree-shift-two"
    family = Family.BOUNDARY

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in source.nodes("assignment_expression"):
            right = sides(node)[1]
            value = number(source, right)
            steps = ((">>=", 1.0), ("<<=", 1.0), ("/=", 2.0), ("*=", 2.0))
            if (operator(node), value) in steps and source.is_integer(sides(node)[0]):
                yield source.swap(node, {right: "4" if value == 2.0 else "2"})


class TreeStopsEarly(Rule):
    """Leaves the last level of a tree reduction out: ``s > 0`` becomes ``s > 1``."""

    name = "tree-stops-early"
    family = Family.BOUNDARY

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for loop in for_loops(source):
            if operator(loop.update) not in (">>=", "/="):
                continue
            value = number(source, loop.bound)
            if (operator(loop.condition) == ">" and value is not None) or (
                operator(loop.condition) == ">=" and value is not None
            ):
                yield source.swap(loop.condition, {loop.bound: str(int(value) + 1)})


class TreeStartsLate(Rule):
    """Leaves the first level of a tree reduction out: it starts at half its offset."""

    name = "tree-starts-late"
    family = Family.BOUNDARY

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for loop in for_loops(source):
            if operator(loop.update) in (">>=", "/="):
                value = number(source, loop.start)
                text = source.wrapped(loop.start)
                half = f"{text} / 2" if value is None else str(int(value) // 2)
                yield source.edit(loop.start, half)


class CeilToFloor(Rule):
    """Rounds a number of tiles down: ``(n + t - 1) / t`` becomes ``n / t``."""

    name = "ceil-to-floor"
    family = Family.BOUNDARY

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in binaries(source, "/", ">>"):
            top, bottom = sides(node)
            whole = _rounded_up(source, bare(top), operator(node))
            if whole is not None and source.is_integer(node):
                after = f"{source.wrapped(whole)} {operator(node)} {source.text(bottom)}"
                yield source.edit(node, after)


def _rounded_up(source: SourceContext, top: Node, division: str) -> Node | None:
    """Return ``n`` of ``n + t - 1``, ``n + (t - 1)`` or ``n + 31``; None for anything else."""
    if top.type != "binary_expression":
        return None
    left, right = sides(top)
    if operator(top) == "-" and number(source, right) == 1 and bare(left).type != "identifier":
        inner = bare(left)
        if inner.type == "binary_expression" and operator(inner) == "+":
            return sides(inner)[0]
        return None
    if operator(top) != "+":
        return None
    extra = bare(right)
    value = number(source, extra)
    if value is not None:
        return left if int(value) & (int(value) + 1) == 0 and value > 0 else None
    minus_one = extra.type == "binary_expression" and operator(extra) == "-"
    return left if minus_one and number(source, field(extra, "right")) == 1 else None
