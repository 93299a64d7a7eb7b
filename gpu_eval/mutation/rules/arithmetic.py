"""Arithmetic faults: a wrong operator, a lost sign, factor or term in float expressions."""

# ruff: noqa: D102 (``sites`` is documented where it is declared)

from collections.abc import Iterator

from tree_sitter import Node

from gpu_eval.mutation.kinds import Space
from gpu_eval.mutation.rule import Rule
from gpu_eval.mutation.rules.patterns import (
    FMA,
    ROOTS,
    bare,
    binaries,
    calls,
    field,
    number,
    sentinel_sign,
    sides,
)
from gpu_eval.mutation.rules.writes import stores
from gpu_eval.mutation.sites import Edit, SourceContext
from gpu_eval.mutation.tree import arguments, call_name, operator
from suiteopt.matrix.schema import Family


class _Operator(Rule):
    """Replaces one operator of a float expression by another."""

    family = Family.ARITHMETIC
    before: str
    after: str

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in binaries(source, self.before):
            if source.is_float(node):
                changed = source.substitute(node, {field(node, "operator"): self.after})
                looser = self.before in "*/" and self.after in "+-"
                yield source.edit(node, changed, atomic=not looser)


class PlusToMinus(_Operator):
    """Subtracts what should be added: ``a + b`` becomes ``a - b``."""

    name = "plus-to-minus"
    before, after = "+", "-"


class MinusToPlus(_Operator):
    """Adds what should be subtracted: ``a - b`` becomes ``a + b``."""

    name = "minus-to-plus"
    before, after = "-", "+"


class TimesToDivide(_Operator):
    """Divides instead of multiplying: ``a * b`` becomes ``a / b``."""

    name = "times-to-divide"
    before, after = "*", "/"


class TimesToPlus(_Operator):
    """Adds instead of multiplying: ``a * b`` becomes ``a + b``."""

    name = "times-to-plus"
    before, after = "*", "+"


class DivideToTimes(_Operator):
    """Multiplies instead of dividing: ``a / b`` becomes ``a * b``."""

    name = "divide-to-times"
    before, after = "/", "*"


class FmaAddendNegated(Rule):
    """Subtracts an addend: ``fmaf(a, b, c)`` becomes ``fmaf(a, b, -c)``."""

    name = "fma-addend-negated"
    family = Family.ARITHMETIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in calls(source, *FMA):
            addend = arguments(node)[2]
            yield source.swap(node, {addend: f"-{source.wrapped(addend)}"})


class FmaFactorAdded(Rule):
    """Adds the factors of a fused multiply-add: ``fmaf(a, b, c)`` becomes ``a + b + c``."""

    name = "fma-factors-added"
    family = Family.ARITHMETIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in calls(source, *FMA):
            after = " + ".join(source.text(a) for a in arguments(node))
            yield source.edit(node, after, atomic=False)


class OperandsSwapped(Rule):
    """Takes a difference or quotient the wrong way round: ``a - b`` becomes ``b - a``."""

    name = "operands-swapped"
    family = Family.ARITHMETIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in binaries(source, "-", "/"):
            left, right = sides(node)
            if source.is_float(node) and source.is_float(left) and source.is_float(right):
                changed = {left: source.wrapped(right), right: source.wrapped(left)}
                yield source.swap(node, changed)


class NegationDropped(Rule):
    """Loses a sign: ``-x`` becomes ``x``."""

    name = "negation-dropped"
    family = Family.ARITHMETIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in source.nodes("unary_expression"):
            inner = field(node, "argument")
            if operator(node) == "-" and source.is_float(inner) and not _constant(source, inner):
                yield source.edit(node, source.text(inner))


def _constant(source: SourceContext, node: Node) -> bool:
    return number(source, node) is not None or sentinel_sign(source, node) != 0


class StoreNegated(Rule):
    """Writes the result with the wrong sign: ``out[i] = v`` becomes ``out[i] = -(v)``."""

    name = "store-negated"
    family = Family.ARITHMETIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in stores(source, Space.GLOBAL):
            value = sides(node)[1]
            if not _constant(source, value):
                yield source.swap(node, {value: f"-{source.wrapped(value)}"})


class FactorDropped(Rule):
    """Loses a factor: ``a * b`` becomes ``a``, ``a / b`` becomes ``a``."""

    name = "factor-dropped"
    family = Family.ARITHMETIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in binaries(source, "*", "/"):
            left, right = sides(node)
            if source.is_float(node) and number(source, left) is None:
                yield source.edit(node, source.text(left))
            elif source.is_float(node) and operator(node) == "*":
                yield source.edit(node, source.text(right))


class TermDropped(Rule):
    """Loses a term: ``a + b`` becomes ``a``, ``fmaf(a, b, c)`` becomes ``a * b``."""

    name = "term-dropped"
    family = Family.ARITHMETIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in binaries(source, "+", "-"):
            left, right = sides(node)
            if source.is_float(node) and not _constant(source, right):
                yield source.edit(node, source.text(left))
        for node in calls(source, *FMA):
            a, b, _ = arguments(node)
            after = f"{source.wrapped(a)} * {source.wrapped(b)}"
            yield source.edit(node, after, atomic=False)


class RootDropped(Rule):
    """Forgets the square root: ``sqrtf(x)`` becomes ``x``, ``rsqrtf(x)`` becomes ``1 / x``."""

    name = "root-dropped"
    family = Family.ARITHMETIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in calls(source, *ROOTS):
            inner = arguments(node)[0]
            if "rsqrt" in call_name(node):
                yield source.edit(node, f"1.0f / {source.wrapped(inner)}", atomic=False)
            else:
                yield source.edit(node, source.wrapped(inner))


class FabsDropped(Rule):
    """Forgets the absolute value: ``fabsf(x)`` becomes ``x``."""

    name = "fabs-dropped"
    family = Family.ARITHMETIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in calls(source, "fabsf", "fabs"):
            yield source.edit(node, source.wrapped(bare(arguments(node)[0])))


class CompoundOperatorWrong(Rule):
    """Scales the wrong way: ``v *= s`` becomes ``v /= s``, ``v /= s`` becomes ``v *= s``."""

    name = "compound-scale-inverted"
    family = Family.ARITHMETIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in source.nodes("assignment_expression"):
            if operator(node) in ("*=", "/=") and source.is_float(sides(node)[0]):
                other = "/=" if operator(node) == "*=" else "*="
                yield source.swap(node, {field(node, "operator"): other})
