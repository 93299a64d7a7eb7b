"""Precision faults of storage and speed: narrow formats, fast intrinsics, constants off a little."""

from collections.abc import Iterator

from tree_sitter import Node

from gpu_eval.mutation.kinds import Kind, Space
from gpu_eval.mutation.rule import Rule
from gpu_eval.mutation.rules import rounding
from gpu_eval.mutation.rules.patterns import (
    SENTINEL_SIZE,
    accumulations,
    binaries,
    calls,
    field,
    is_pure,
    is_written,
    number,
    sentinel_sign,
    sides,
    stores,
    subscripts,
)
from gpu_eval.mutation.sites import Edit, SourceContext, arguments, call_name, operator
from suiteopt.matrix.schema import Family

LARGEST_EPSILON = 1e-3


class _Accumulate(Rule):
    """Rounds an accumulator after every addition."""

    family = Family.PRECISION
    rounding: str

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for found in accumulations(source):
            target = source.text(found.target)
            if not found.compound:
                value = sides(found.site)[1]
                after = rounding.rounded(self.rounding, source.text(value))
                yield source.swap(found.site, {value: after})
            elif is_pure(found.target):
                term = source.wrapped(sides(found.site)[1])
                total = rounding.rounded(self.rounding, f"{target} + {term}")
                yield source.edit(found.site, f"{target} = {total}")


class AccumulateFp16(_Accumulate):
    """Accumulates in fp16: the sum is rounded after every addition."""

    name = "accumulate-fp16"
    rounding = rounding.FP16


class AccumulateBf16(_Accumulate):
    """Accumulates in bf16: the sum is rounded after every addition."""

    name = "accumulate-bf16"
    rounding = rounding.BF16


class _Store(Rule):
    """Rounds what is written to memory."""

    family = Family.PRECISION
    rounding: str
    space: Space

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in stores(source, self.space):
            value = sides(node)[1]
            if number(source, value) is None and sentinel_sign(source, value) == 0:
                after = rounding.rounded(self.rounding, source.text(value))
                yield source.swap(node, {value: after})
        for node in source.nodes("assignment_expression"):
            target, value = sides(node)
            if operator(node) == "=" and source.kind(target) is Kind.VECTOR:
                if target.type == "subscript_expression" and source.space(target) is self.space:
                    after = rounding.rounded_vector(self.rounding, source.text(value))
                    yield source.swap(node, {value: after})


class StoreFp16(_Store):
    """Writes results in fp16."""

    name = "store-fp16"
    rounding, space = rounding.FP16, Space.GLOBAL


class StoreBf16(_Store):
    """Writes results in bf16."""

    name = "store-bf16"
    rounding, space = rounding.BF16, Space.GLOBAL


class StageFp16(_Store):
    """Stages values in shared memory in fp16."""

    name = "stage-fp16"
    rounding, space = rounding.FP16, Space.SHARED


class _Load(Rule):
    """Rounds what is read from global memory."""

    family = Family.PRECISION
    rounding: str

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node, _ in subscripts(source, Space.GLOBAL):
            if source.is_float(node) and not is_written(source, node):
                yield source.edit(node, rounding.rounded(self.rounding, source.text(node)))


class LoadFp16(_Load):
    """Reads inputs as fp16: small and large values lose bits or overflow."""

    name = "load-fp16"
    rounding = rounding.FP16


class LoadBf16(_Load):
    """Reads inputs as bf16."""

    name = "load-bf16"
    rounding = rounding.BF16


class OperandsTf32(Rule):
    """Multiplies as tensor cores do with fp32 operands: 10 mantissa bits of each factor."""

    name = "operands-tf32"
    family = Family.PRECISION

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for found in accumulations(source):
            if found.factors is not None:
                cut = {node: rounding.tf32(source.text(node)) for node in found.factors}
                yield source.swap(found.site, cut)


class StoreNudged(Rule):
    """Scales the result by 1.0001 as it is written."""

    name = "store-nudged"
    family = Family.PRECISION

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in stores(source, Space.GLOBAL):
            value = sides(node)[1]
            if number(source, value) is None and sentinel_sign(source, value) == 0:
                yield source.swap(node, {value: f"{source.wrapped(value)} * 1.0001f"})


class DoubleNarrowed(Rule):
    """Keeps in fp32 what was kept in double."""

    name = "double-narrowed"
    family = Family.PRECISION

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in source.nodes("declaration"):
            kind = field(node, "type")
            if source.text(kind) == "double" and source.function(node) is not None:
                yield source.edit(kind, "float")


class FastIntrinsic(Rule):
    """Takes the fast intrinsic: ``expf`` becomes ``__expf``, and so on."""

    name = "fast-intrinsic"
    family = Family.PRECISION
    _fast = {
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
                yield source.edit(
                    node, f"({source.wrapped(inner)} * rsqrtf({source.text(inner)}))"
                )


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
