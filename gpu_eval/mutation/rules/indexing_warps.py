"""Indexing faults inside a warp: its size, and the lanes that shuffles name."""

# ruff: noqa: D102 (``sites`` is documented where it is declared)

from collections.abc import Iterator
from typing import ClassVar

from tree_sitter import Node

from gpu_eval.mutation.kinds import Space
from gpu_eval.mutation.rule import Rule
from gpu_eval.mutation.rules.patterns import binaries, calls, field, number, sides
from gpu_eval.mutation.sites import Edit, SourceContext
from gpu_eval.mutation.tree import arguments, call_name, operator
from suiteopt.matrix.schema import Family


class WarpSizeHalved(Rule):
    """Takes a warp for 16 threads: ``/ 32``, ``% 32``, ``& 31``, ``>> 5`` and ``warpSize``."""

    name = "warp-size-halved"
    family = Family.INDEXING
    _halves: ClassVar = {("/", 32.0): "16", ("%", 32.0): "16", ("&", 31.0): "15", (">>", 5.0): "4"}

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in binaries(source, "/", "%", "&", ">>"):
            left, right = sides(node)
            value = number(source, right)
            half = self._halves.get((operator(node), -1.0 if value is None else value))
            if half is None and _is_warp_size(source, right) and operator(node) in ("/", "%"):
                half = f"({source.text(right)} / 2)"
            if half is not None and source.is_integer(left):
                yield source.swap(node, {right: half})


def _is_warp_size(source: SourceContext, node: Node) -> bool:
    if node.type != "identifier":
        return False
    if source.text(node) == "warpSize":
        return True
    declared = source.lookup(node)
    value = declared.value if declared is not None and declared.space is Space.CONSTANT else None
    return value is not None and number(source, value) == 32


class ShuffleOffsetWrong(Rule):
    """Exchanges with the wrong lane: the offset of a shuffle is halved, a fixed lane shifted."""

    name = "shuffle-offset-wrong"
    family = Family.INDEXING

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in calls(source, "__shfl_down_sync", "__shfl_up_sync", "__shfl_xor_sync"):
            offset = arguments(node)[2]
            yield source.swap(node, {offset: f"{source.wrapped(offset)} / 2"})
        for node in calls(source, "__shfl_sync"):
            lane = arguments(node)[2]
            yield source.swap(node, {lane: f"{source.wrapped(lane)} + 1"})


class ShuffleWidthHalved(Rule):
    """Exchanges inside half a warp only: the width of a shuffle becomes 16."""

    name = "shuffle-width-halved"
    family = Family.INDEXING

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in source.nodes("call_expression"):
            if call_name(node).startswith("__shfl") and len(arguments(node)) >= 3:
                given = [source.text(a) for a in arguments(node)]
                width = f"{given[3]} / 2" if len(given) == 4 else "16"
                yield source.edit(node, f"{call_name(node)}({', '.join(given[:3])}, {width})")


class ShuffleDirectionWrong(Rule):
    """Exchanges in the wrong direction: down becomes up, up and xor become down."""

    name = "shuffle-direction-wrong"
    family = Family.INDEXING
    _other: ClassVar = {
        "__shfl_down_sync": "__shfl_up_sync",
        "__shfl_up_sync": "__shfl_down_sync",
        "__shfl_xor_sync": "__shfl_down_sync",
    }

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in calls(source, *self._other):
            yield source.swap(node, {field(node, "function"): self._other[call_name(node)]})
