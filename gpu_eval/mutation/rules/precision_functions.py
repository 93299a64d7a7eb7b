"""Precision faults of functions and constants: fast intrinsics, approximations, digits."""

# ruff: noqa: D102 (``sites`` is documented where it is declared)

from collections.abc import Iterator
from typing import ClassVar

from tree_sitter import Node

from gpu_eval.mutation.rule import Rule
from gpu_eval.mutation.rules.patterns import (
    SENTINEL_SIZE,
    binaries,
    calls,
    field,
    is_pure,
    number,
    sides,
)
from gpu_eval.mutation.sites import Edit, SourceContext
from gpu_eval.mutation.tree import arguments, call_name
from suiteopt.matrix.schema import Family

LARGEST_EPSILON = 1e-3


class FastIntrinsic(Rule):
    """Takes the fast intrinsic: ``expf`` becomes ``__expf``, and so on."""

    name = "fast-intrinsic"
    family = Family.PRECISION
    _fast: ClassVar = {
        "expf": "__expf",
        "logf": "__logf",
        "log2f": "__log2f",
        "log10f": "__log10f",
        "sinf": "__sinf",
        "cosf": "__cosf",
        "tanf": "__tanf",
        "powf": "__powf",
    }

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in calls(source, *self._fast):
            yield source.swap(node, {field(node, "function"): self._fast[call_name(node)]})


class FastDivide(Rule):
    """Divides approximately: ``a / b`` becomes ``__fdividef(a, b)``."""

    name = "fast-divide"
    family = Family.PRECISION

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in binaries(source, "/"):
            left, right = sides(node)
            if source.is_float(node) and not (_literal(source, left) and _literal(source, right)):
                after = f"__fdividef({source.text(left)}, {source.text(right)})"
                yield source.edit(node, after)


def _literal(source: SourceContext, node: Node) -> bool:
    return number(source, node) is not None


class SqrtByRsqrt(Rule):
    """Takes ``x * rsqrtf(x)`` for ``sqrtf(x)``: NaN at zero."""

    name = "sqrt-by-rsqrt"
    family = Family.PRECISION

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in calls(source, "sqrtf"):
            inner = arguments(node)[0]
            if is_pure(inner):
                yield source.edit(node, f"({source.wrapped(inner)} * rsqrtf({source.text(inner)}))")


class TanhByExp(Rule):
    """Computes tanh from exponentials, which overflow to NaN."""

    name = "tanh-by-exp"
    family = Family.PRECISION

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in calls(source, "tanhf"):
            inner = arguments(node)[0]
            if is_pure(inner):
                power = f"expf(2.0f * {source.wrapped(inner)})"
                yield source.edit(node, f"(({power} - 1.0f) / ({power} + 1.0f))")


class ErfByTanh(Rule):
    """Approximates erf by tanh, as the approximate GELU does."""

    name = "erf-by-tanh"
    family = Family.PRECISION

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in calls(source, "erff"):
            inner = arguments(node)[0]
            if is_pure(inner):
                x = source.wrapped(inner)
                cubic = f"1.0f + 0.08943f * {x} * {x}"
                yield source.edit(node, f"tanhf(1.128379167f * {x} * ({cubic}))")


class _Cancelling(Rule):
    """Writes out a function that exists because its written-out form cancels near zero."""

    family = Family.PRECISION
    functions: ClassVar[dict[str, str]]  # name -> the function that the written-out form calls
    form: str
    atomic: bool  # whether that form binds as tightly as a call

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in calls(source, *self.functions):
            inner = arguments(node)[0]
            function = self.functions[call_name(node)]
            after = self.form.format(
                function=function, x=source.text(inner), term=source.wrapped(inner)
            )
            yield source.edit(node, after, atomic=self.atomic)


class Expm1ByExp(_Cancelling):
    """Subtracts one from the exponential: ``expm1f(x)`` becomes ``expf(x) - 1.0f``."""

    name = "expm1-by-exp"
    functions: ClassVar = {"expm1f": "expf", "expm1": "exp"}
    form = "{function}({x}) - 1.0f"
    atomic = False


class Log1pByLog(_Cancelling):
    """Adds one before the logarithm: ``log1pf(x)`` becomes ``logf(1.0f + x)``."""

    name = "log1p-by-log"
    functions: ClassVar = {"log1pf": "logf", "log1p": "log"}
    form = "{function}(1.0f + {term})"
    atomic = True


class _ConstantPerturbed(Rule):
    """Scales a float constant by one plus ``relative``; zero and epsilons have their own rules."""

    family = Family.PRECISION
    relative: float

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in source.nodes("number_literal"):
            value = number(source, node)
            if value is None or not source.is_float(node):
                continue
            if LARGEST_EPSILON < abs(value) < SENTINEL_SIZE:
                text = f"{value * (1.0 + self.relative):.9g}"
                suffix = "f" if source.text(node)[-1] in "fF" else ""
                dot = "" if "." in text or "e" in text else ".0"
                yield source.edit(node, f"{text}{dot}{suffix}")


class ConstantPerturbedLarge(_ConstantPerturbed):
    """Has a constant wrong by one percent."""

    name = "constant-off-1e-2"
    relative = 1e-2


class ConstantPerturbedSmall(_ConstantPerturbed):
    """Has a constant wrong by one in a thousand."""

    name = "constant-off-1e-3"
    relative = 1e-3


class ConstantPerturbedTiny(_ConstantPerturbed):
    """Has a constant wrong by one in a hundred thousand, as too few digits do."""

    name = "constant-off-1e-5"
    relative = 1e-5
