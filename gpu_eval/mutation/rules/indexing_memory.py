"""Indexing faults of addresses: strides, offsets and terms of index arithmetic."""

# ruff: noqa: D102 (``sites`` is documented where it is declared)

from collections.abc import Iterator

from tree_sitter import Node

from gpu_eval.mutation.kinds import Kind, Space
from gpu_eval.mutation.rule import Rule
from gpu_eval.mutation.rules.patterns import bare, binaries, field, names_in, number, sides
from gpu_eval.mutation.rules.writes import is_written, subscripts
from gpu_eval.mutation.sites import Edit, SourceContext
from gpu_eval.mutation.tree import operator
from suiteopt.matrix.schema import Family

_BUILTINS = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim"})


def address_sums(source: SourceContext) -> Iterator[tuple[Node, Node, Node, Node]]:
    """Yield ``i * stride + j`` in integers: the sum, the row, the stride, the column.

    Only where the stride is a name of an extent, not a literal, a thread's or a block's size.
    """
    for node in binaries(source, "+"):
        if not source.is_integer(node):
            continue
        for product, column in (sides(node), tuple(reversed(sides(node)))):
            product = bare(product)
            if product.type == "binary_expression" and operator(product) == "*":
                row, stride = sides(product)
                if _is_extent(source, row) and not _is_extent(source, stride):
                    row, stride = stride, row
                if _is_extent(source, stride):
                    yield node, row, stride, column
                    break


def outermost_sums(source: SourceContext) -> Iterator[tuple[Node, Node, Node, Node]]:
    """Yield the address sums that are not the row of another: ``(b * h + i) * w + j`` once."""
    found = list(address_sums(source))
    rows = [row for _, row, _, _ in found]
    for one in found:
        if not any(source.inside(one[0], row) for row in rows):
            yield one


def _is_extent(source: SourceContext, node: Node) -> bool:
    """Return whether a node names a size that the launch passed in or a constant gives."""
    node = bare(node)
    if node.type != "identifier":
        return False
    declared = source.lookup(node)
    return declared is not None and declared.space in (Space.PARAMETER, Space.CONSTANT)


def other_extents(source: SourceContext, node: Node) -> list[str]:
    """Return the integer parameters that an extent may be confused with, in order."""
    name = source.text(bare(node))
    parameters = source.integer_parameters(node)
    if name not in parameters:
        return []
    position = parameters.index(name)
    return parameters[position + 1 :] + parameters[:position]


class LinearIndexTransposed(Rule):
    """Transposes a flat index: ``i * w + j`` becomes ``j * w + i``."""

    name = "linear-index-transposed"
    family = Family.INDEXING

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node, row, _, column in outermost_sums(source):
            if row.type != "number_literal" and not _is_launch_index(source, node):
                changed = {row: source.wrapped(column), column: source.text(row)}
                yield source.swap(node, changed)


def _is_launch_index(source: SourceContext, node: Node) -> bool:
    return not names_in(node).isdisjoint({"blockDim"})


class StrideOfOtherExtent(Rule):
    """Steps over rows by another extent: ``i * k + j`` becomes ``i * m + j``."""

    name = "stride-of-other-extent"
    family = Family.INDEXING

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node, _, stride, _ in address_sums(source):
            for other in other_extents(source, stride)[:1]:
                yield source.swap(node, {stride: other})


class StrideMinusOne(Rule):
    """Steps over rows by one element too few: ``i * w + j`` becomes ``i * (w - 1) + j``."""

    name = "stride-minus-one"
    family = Family.INDEXING

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node, _, stride, _ in outermost_sums(source):
            yield source.swap(node, {stride: f"({source.text(stride)} - 1)"})


class DecodeOfOtherExtent(Rule):
    """Takes a flat index apart by another extent: ``i % w`` becomes ``i % h``."""

    name = "decode-of-other-extent"
    family = Family.INDEXING

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in binaries(source, "/", "%"):
            left, right = sides(node)
            if source.is_integer(left) and _is_extent(source, right):
                for other in other_extents(source, right)[:1]:
                    yield source.swap(node, {right: other})


class ReadPlusOne(Rule):
    """Reads the neighbour in global memory: ``a[i]`` becomes ``a[i + 1]``."""

    name = "read-plus-one"
    family = Family.INDEXING

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node, index in subscripts(source, Space.GLOBAL):
            if not is_written(source, node):
                yield source.swap(node, {index: f"{source.text(index)} + 1"})


class StorePlusOne(Rule):
    """Writes the neighbour in global memory: ``out[i] = v`` becomes ``out[i + 1] = v``."""

    name = "store-plus-one"
    family = Family.INDEXING

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node, index in subscripts(source, Space.GLOBAL):
            if is_written(source, node):
                yield source.swap(node, {index: f"{source.text(index)} + 1"})


class ReadFirstElement(Rule):
    """Broadcasts one element instead of reading along an axis: ``bias[c]`` becomes ``bias[0]``."""

    name = "read-first-element"
    family = Family.INDEXING

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node, index in subscripts(source, Space.GLOBAL):
            if not is_written(source, node) and number(source, index) is None:
                yield source.swap(node, {index: "0"})


class IndexTermDropped(Rule):
    """Forgets an offset of an index: ``base + j`` becomes ``base``, ``h - pad`` becomes ``h``."""

    name = "index-term-dropped"
    family = Family.INDEXING

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in binaries(source, "+", "-"):
            left, right = sides(node)
            named = number(source, right) is None and number(source, left) is None
            pointer = operator(node) == "+" and source.kind(left) is Kind.POINTER
            address = source.is_integer(node) or pointer
            if address and named and not _counts_tiles(source, node):
                yield source.edit(node, source.text(left))


def _counts_tiles(source: SourceContext, node: Node) -> bool:
    """Return whether a sum is the top of a rounded-up division."""
    above = source.parent(node)
    while above is not None and above.type in ("parenthesized_expression", "binary_expression"):
        if operator(above) == "/":
            return True
        above = source.parent(above)
    return False


class IndexSignFlipped(Rule):
    """Shifts the wrong way: ``h - pad`` becomes ``h + pad``."""

    name = "index-sign-flipped"
    family = Family.INDEXING

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in binaries(source, "-"):
            right = sides(node)[1]
            if source.is_integer(node) and number(source, right) is None:
                yield source.swap(node, {field(node, "operator"): "+"})


class IndexFactorDropped(Rule):
    """Forgets a stride or a dilation: ``oh * stride + kh`` becomes ``oh + kh``."""

    name = "index-factor-dropped"
    family = Family.INDEXING

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in binaries(source, "*"):
            left, right = sides(node)
            if not source.is_integer(node) or not _is_extent(source, right):
                continue
            above = source.parent(node)
            summed = above is not None and operator(above) in ("+", "-")
            if summed and not any(a.type == "subscript_expression" for a in source.ancestors(node)):
                yield source.edit(node, source.text(left))
