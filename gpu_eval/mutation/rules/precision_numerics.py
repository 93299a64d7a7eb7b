"""Precision faults of the numerical method: epsilons, shifts, variances, compensation."""

# ruff: noqa: D102 (``sites`` is documented where it is declared)

from collections.abc import Iterator

from tree_sitter import Node

from gpu_eval.mutation.kinds import Space
from gpu_eval.mutation.parser import walk
from gpu_eval.mutation.rule import Rule
from gpu_eval.mutation.rules.patterns import (
    EXPONENTIALS,
    FMA,
    ROOTS,
    bare,
    binaries,
    calls,
    field,
    number,
    sides,
)
from gpu_eval.mutation.rules.precision import LARGEST_EPSILON
from gpu_eval.mutation.sites import Edit, SourceContext
from gpu_eval.mutation.tree import arguments, call_name, operator
from suiteopt.matrix.schema import Family


def is_epsilon(source: SourceContext, node: Node) -> bool:
    """Return whether an expression keeps a root or quotient away from zero: tiny, or called so."""
    node = bare(node)
    value = number(source, node)
    if value is not None:
        return source.is_float(node) and 0 < value <= LARGEST_EPSILON
    return node.type == "identifier" and "eps" in source.text(node).lower()


def epsilon_sums(source: SourceContext) -> Iterator[tuple[Node, Node, Node]]:
    """Yield ``x + eps`` and ``fmaxf(x, eps)``: the whole, the other operand, the epsilon."""
    for node in binaries(source, "+"):
        left, right = sides(node)
        if not source.is_float(node):
            continue
        if is_epsilon(source, right):
            yield node, left, right
        elif is_epsilon(source, left):
            yield node, right, left
    for node in calls(source, "fmaxf", "max"):
        given = arguments(node)
        if len(given) == 2 and is_epsilon(source, given[1]):
            yield node, given[0], given[1]


class EpsilonRemoved(Rule):
    """Forgets the epsilon: ``x + eps`` becomes ``x``."""

    name = "epsilon-removed"
    family = Family.PRECISION

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node, other, _ in epsilon_sums(source):
            yield source.edit(node, source.wrapped(other))


class _EpsilonScaled(Rule):
    """Uses an epsilon of the wrong size."""

    family = Family.PRECISION
    factor: str

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node, _, epsilon in epsilon_sums(source):
            yield source.swap(node, {epsilon: f"{self.factor} * {source.wrapped(epsilon)}"})


class EpsilonHalved(_EpsilonScaled):
    """Uses half the epsilon."""

    name = "epsilon-halved"
    factor = "0.5f"


class EpsilonTenfold(_EpsilonScaled):
    """Uses ten times the epsilon, as a wrong default does."""

    name = "epsilon-tenfold"
    factor = "10.0f"


class EpsilonOutsideRoot(Rule):
    """Adds the epsilon after the root: ``sqrtf(v + eps)`` becomes ``(sqrtf(v) + eps)``."""

    name = "epsilon-outside-root"
    family = Family.PRECISION

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        sums = {node.id: (other, eps) for node, other, eps in epsilon_sums(source)}
        for call in calls(source, *ROOTS):
            inner = bare(arguments(call)[0])
            if inner.id not in sums or inner.type != "binary_expression":
                continue
            other, epsilon = (source.text(part) for part in sums[inner.id])
            moved = f"(sqrtf({other}) + {epsilon})"
            inverse = "rsqrt" in call_name(call)
            yield source.edit(call, f"(1.0f / {moved})" if inverse else moved)


class MaxSubtractionRemoved(Rule):
    """Takes the exponential unshifted, which overflows: ``expf(x - m)`` becomes ``expf(x)``."""

    name = "max-subtraction-removed"
    family = Family.PRECISION

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for call in calls(source, *EXPONENTIALS):
            for below in walk(arguments(call)[0]):
                if below.type == "binary_expression" and operator(below) == "-":
                    left, right = sides(below)
                    if source.is_float(below) and number(source, right) is None:
                        yield source.swap(call, {below: source.text(left)})
                        break


class Exp2Unscaled(Rule):
    """Takes powers of two for powers of e: ``expf(x)`` becomes ``exp2f(x)``."""

    name = "exp2-unscaled"
    family = Family.PRECISION

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for call in calls(source, "expf", "__expf"):
            yield source.swap(call, {field(call, "function"): "exp2f"})


def difference(source: SourceContext, node: Node) -> tuple[Node, Node] | None:
    """Return the two sides of a float difference, or of the one that a name was set to."""
    node = bare(node)
    if node.type == "identifier":
        declared = source.lookup(node)
        value = declared.value if declared is not None else None
        node = bare(value) if value is not None else node
    if node.type == "binary_expression" and operator(node) == "-" and source.is_float(node):
        return sides(node)
    return None


def float_products(source: SourceContext) -> Iterator[tuple[Node, Node, Node, str]]:
    """Yield ``a * b`` and ``fmaf(a, b, c)``: the whole, both factors, the addend's text or ''."""
    for node in binaries(source, "*"):
        if source.is_float(node):
            yield node, *sides(node), ""
    for node in calls(source, *FMA):
        a, b, c = arguments(node)
        yield node, a, b, source.text(c)


class VarianceOnePass(Rule):
    """Computes a variance as E[x²] - E[x]²: ``d * d`` becomes ``x * x - mean * mean``."""

    name = "variance-one-pass"
    family = Family.PRECISION

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node, a, b, addend in float_products(source):
            parts = difference(source, a)
            if parts is None or source.text(a) != source.text(b):
                continue
            x, mean = (source.wrapped(part) for part in parts)
            after = f"({x} * {x} - {mean} * {mean})"
            yield source.edit(node, f"({addend} + {after})" if addend else after)


class WelfordDeltaReused(Rule):
    """Multiplies by the old difference twice: ``d * (x - mean)`` becomes ``d * d``."""

    name = "welford-delta-reused"
    family = Family.PRECISION

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node, a, b, _ in float_products(source):
            for kept, other in ((a, b), (b, a)):
                named = bare(kept).type == "identifier" and difference(source, kept) is not None
                if named and difference(source, other) and source.text(kept) != source.text(other):
                    yield source.swap(node, {other: source.text(kept)})
                    break


class DivisorMinusOne(Rule):
    """Divides a sum by one too few: ``s / n`` becomes ``s / (n - 1)``, the unbiased variance."""

    name = "divisor-minus-one"
    family = Family.PRECISION

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in binaries(source, "/"):
            count = counted(source, sides(node)[1]) if source.is_float(node) else None
            if count is not None:
                yield source.swap(node, {count: f"({source.text(count)} - 1)"})


def counted(source: SourceContext, node: Node) -> Node | None:
    """Return the integer extent that a float is divided by: ``n``, ``(float)n``, ``float(n)``."""
    node = bare(node)
    if node.type == "cast_expression":
        node = bare(field(node, "value"))
    elif node.type == "call_expression" and call_name(node) in ("static_cast", "float"):
        given = arguments(node)
        node = bare(given[0]) if given else node
    if not source.is_integer(node) or node.type != "identifier":
        return None
    declared = source.lookup(node)
    inside = (Space.PARAMETER, Space.CONSTANT, Space.LOCAL)
    return node if declared is not None and declared.space in inside else None


class KahanDropped(Rule):
    """Drops the compensation of a Kahan sum: ``c = (t - s) - y`` becomes ``c = 0``."""

    name = "kahan-dropped"
    family = Family.PRECISION

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        subtracted = {source.text(sides(n)[1]) for n in binaries(source, "-")}
        for node in source.nodes("assignment_expression"):
            target, value = sides(node)
            value = bare(value)
            if operator(node) != "=" or source.text(target) not in subtracted:
                continue
            if value.type == "binary_expression" and operator(value) == "-":
                first = bare(sides(value)[0])
                if first.type == "binary_expression" and operator(first) == "-":
                    yield source.swap(node, {sides(node)[1]: "0.0f"})
