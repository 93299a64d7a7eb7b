"""Indexing faults of threads and blocks, of shared tiles and of decoded coordinates."""

# ruff: noqa: D102 (``sites`` is documented where it is declared)

from collections.abc import Iterator

from tree_sitter import Node

from gpu_eval.mutation.kinds import Space
from gpu_eval.mutation.rule import Rule
from gpu_eval.mutation.rules.patterns import bare, binaries, field, number, sides
from gpu_eval.mutation.rules.writes import index_of, is_written, subscripts
from gpu_eval.mutation.sites import Edit, SourceContext
from gpu_eval.mutation.tree import operator
from suiteopt.matrix.schema import Family


class _Builtin(Rule):
    """Replaces a coordinate of a launch by another one."""

    family = Family.INDEXING

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        done: set[tuple[int, str]] = set()
        for node in source.nodes("field_expression"):
            text = source.text(node)
            changed = self.other(text)
            if changed is None:
                continue
            function = source.function(node)
            key = (function.id if function is not None else 0, text)
            unused = function is not None and changed not in source.text(function)
            if not (unused and key in done):  # an axis without extent: once a function is enough
                done.add(key)
                yield source.edit(node, changed)

    def other(self, text: str) -> str | None:
        raise NotImplementedError


class _AxisSwapped(_Builtin):
    """Confuses the x and y of a builtin."""

    builtin: str

    def other(self, text: str) -> str | None:
        axes = {f"{self.builtin}.x": "y", f"{self.builtin}.y": "x", f"{self.builtin}.z": "y"}
        return f"{self.builtin}.{axes[text]}" if text in axes else None


class ThreadAxisSwapped(_AxisSwapped):
    """Confuses ``threadIdx.x`` and ``threadIdx.y``."""

    name = "thread-axis-swapped"
    builtin = "threadIdx"


class BlockAxisSwapped(_AxisSwapped):
    """Confuses ``blockIdx.x`` and ``blockIdx.y``."""

    name = "block-axis-swapped"
    builtin = "blockIdx"


class BlockDimToGridDim(_Builtin):
    """Takes the number of blocks for the number of threads: ``blockDim`` becomes ``gridDim``."""

    name = "block-dim-to-grid-dim"

    def other(self, text: str) -> str | None:
        return text.replace("blockDim", "gridDim") if text.startswith("blockDim.") else None


class GridDimToBlockDim(_Builtin):
    """Takes the number of threads for the number of blocks: ``gridDim`` becomes ``blockDim``."""

    name = "grid-dim-to-block-dim"

    def other(self, text: str) -> str | None:
        return text.replace("gridDim", "blockDim") if text.startswith("gridDim.") else None


class SharedIndexPlusOne(Rule):
    """Reads the neighbour in shared memory: the last index of a read is one too large."""

    name = "shared-index-plus-one"
    family = Family.INDEXING

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node, index in subscripts(source, Space.SHARED):
            if source.is_float(node) and not is_written(source, node):
                yield source.swap(node, {index: f"{source.text(index)} + 1"})


class SharedStorePlusOne(Rule):
    """Writes the neighbour in shared memory: the last index of a write is one too large."""

    name = "shared-store-plus-one"
    family = Family.INDEXING

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node, index in subscripts(source, Space.SHARED):
            if source.is_float(node) and is_written(source, node):
                yield source.swap(node, {index: f"{source.text(index)} + 1"})


class SubscriptTransposed(Rule):
    """Transposes a tile: ``a[i][j]`` becomes ``a[j][i]``."""

    name = "subscript-transposed"
    family = Family.INDEXING

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in source.nodes("subscript_expression"):
            inner = field(node, "argument")
            if inner.type != "subscript_expression":
                continue
            second, first = index_of(node), index_of(inner)
            if first is None or second is None or source.text(first) == source.text(second):
                continue
            yield source.swap(node, {first: source.text(second), second: source.text(first)})


class PartnerHalfOffset(Rule):
    """Adds the wrong partner in a tree reduction: ``s[t + o]`` becomes ``s[t + o / 2]``."""

    name = "partner-half-offset"
    family = Family.INDEXING

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node, index in subscripts(source, Space.SHARED):
            inner = bare(index)
            if inner.type != "binary_expression" or operator(inner) not in ("+", "^"):
                continue
            for side in sides(inner):
                if _halves(source, side):
                    yield source.swap(node, {side: f"{source.text(side)} / 2"})


def _halves(source: SourceContext, node: Node) -> bool:
    """Return whether a name is the halving offset of a loop around it."""
    for loop in source.loops(node):
        update = loop.child_by_field_name("update")
        if update is not None and operator(update) in (">>=", "/="):
            return source.text(sides(update)[0]) == source.text(node)
    return False


class DivisionModuloSwapped(Rule):
    """Decodes a flat index wrongly: ``i / w`` and ``i % w`` are confused."""

    name = "division-modulo-swapped"
    family = Family.INDEXING

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        found = [
            node
            for node in binaries(source, "/", "%")
            if all(source.is_integer(side) for side in sides(node)) and _decodes(source, node)
        ]
        quotients = {self._key(source, node) for node in found if operator(node) == "/"}
        for node in found:
            other = "%" if operator(node) == "/" else "/"
            if other == "%" or self._key(source, node) not in quotients:
                yield source.swap(node, {field(node, "operator"): other})

    def _key(self, source: SourceContext, node: Node) -> tuple[str, ...]:
        return tuple(source.text(side) for side in sides(node))


def _decodes(source: SourceContext, node: Node) -> bool:
    """Return whether a division takes an index apart: not one that counts tiles or halves."""
    top = bare(sides(node)[0])
    if number(source, top) is not None or source.function(node) is None:
        return False
    if top.type == "identifier":
        declared = source.lookup(top)
        return declared is None or declared.space is not Space.PARAMETER
    return top.type == "field_expression" or (
        top.type == "binary_expression" and operator(top) in ("/", "%", "*")
    )
