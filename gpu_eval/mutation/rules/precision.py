"""Precision faults of storage: sums, results, tiles and inputs in narrow formats."""

# ruff: noqa: D102 (``sites`` is documented where it is declared)

from collections.abc import Iterator

from tree_sitter import Node

from gpu_eval.mutation.kinds import Kind, Space
from gpu_eval.mutation.rule import Rule
from gpu_eval.mutation.rules import rounding
from gpu_eval.mutation.rules.patterns import (
    field,
    is_pure,
    number,
    sentinel_sign,
    sides,
)
from gpu_eval.mutation.rules.writes import accumulations, is_written, stores, subscripts
from gpu_eval.mutation.sites import Edit, SourceContext
from gpu_eval.mutation.tree import operator
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
            whole = operator(node) == "=" and source.kind(target) is Kind.VECTOR
            indexed = target.type == "subscript_expression"
            if whole and indexed and source.space(target) is self.space:
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
    """Rounds what is read from global memory; ``staged_alike``: unless staging does the same."""

    family = Family.PRECISION
    rounding: str
    staged_alike = False

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node, _ in subscripts(source, Space.GLOBAL):
            if is_written(source, node):
                continue
            if source.is_float(node) and not (self.staged_alike and _is_staged(source, node)):
                yield source.edit(node, rounding.rounded(self.rounding, source.text(node)))
            elif source.kind(node) is Kind.VECTOR:
                yield source.edit(node, rounding.rounded_vector(self.rounding, source.text(node)))


def _is_staged(source: SourceContext, node: Node) -> bool:
    """Return whether a value read goes into shared memory as it is."""
    above = source.parent(node)
    while above is not None and above.type in (
        "conditional_expression",
        "parenthesized_expression",
    ):
        above = source.parent(above)
    if above is None or above.type != "assignment_expression":
        return False
    return source.space(sides(above)[0]) is Space.SHARED


class LoadFp16(_Load):
    """Reads inputs as fp16: small and large values lose bits or overflow."""

    name = "load-fp16"
    rounding = rounding.FP16
    staged_alike = True


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
