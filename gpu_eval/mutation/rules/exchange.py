"""Synchronization faults of exchanges: atomics, shuffles, broadcasts, double buffers."""

# ruff: noqa: D102 (``sites`` is documented where it is declared)

from collections.abc import Iterator

from tree_sitter import Node

from gpu_eval.mutation.kinds import Space
from gpu_eval.mutation.rule import Rule
from gpu_eval.mutation.rules.patterns import (
    ATOMICS,
    bare,
    binaries,
    calls,
    number,
    sides,
)
from gpu_eval.mutation.rules.writes import is_written
from gpu_eval.mutation.sites import Edit, SourceContext
from gpu_eval.mutation.tree import arguments, call_name, operator
from suiteopt.matrix.schema import Family

BARRIER = "__syncthreads"
_JUMPS = ("return_statement", "break_statement", "continue_statement")


class AtomicToPlain(Rule):
    """Updates memory without an atomic: ``atomicAdd(p, v)`` becomes ``(*(p) += v)``."""

    name = "atomic-to-plain"
    family = Family.SYNCHRONIZATION

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for call in calls(source, *ATOMICS):
            place, value = (source.text(a) for a in arguments(call)[:2])
            target = f"*({place})"
            plain = {
                "atomicAdd": f"({target} += {value})",
                "atomicSub": f"({target} -= {value})",
                "atomicMax": f"({target} = max({target}, {value}))",
                "atomicMin": f"({target} = min({target}, {value}))",
            }
            yield source.edit(call, plain[call_name(call)])


class ShuffleMaskHalved(Rule):
    """Names half the warp in the mask of a shuffle."""

    name = "shuffle-mask-halved"
    family = Family.SYNCHRONIZATION

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for call in source.nodes("call_expression"):
            if call_name(call).startswith("__shfl_") and len(arguments(call)) >= 3:
                yield source.swap(call, {arguments(call)[0]: "0x0000ffffu"})


class ShuffleDropped(Rule):
    """Takes a thread's own value for the exchanged one."""

    name = "shuffle-dropped"
    family = Family.SYNCHRONIZATION

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for call in source.nodes("call_expression"):
            if call_name(call).startswith("__shfl_") and len(arguments(call)) >= 3:
                yield source.edit(call, source.wrapped(arguments(call)[1]))


class BroadcastReplacedByLocal(Rule):
    """Uses a thread's own value where the shared result of one thread is meant."""

    name = "broadcast-replaced-by-local"
    family = Family.SYNCHRONIZATION

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        published = {source.text(t): value for t, value in self._published(source)}
        for node in source.nodes("subscript_expression", "identifier"):
            value = published.get(source.text(node))
            if value is None or is_written(source, node):
                continue
            if node.start_byte > value.end_byte and source.text(value) in source.visible(node):
                yield source.edit(node, source.text(value))

    def _published(self, source: SourceContext) -> Iterator[tuple[Node, Node]]:
        """Yield shared places that one thread writes a local value to, with that value."""
        for node in source.nodes("assignment_expression"):
            target, value = sides(node)
            if operator(node) != "=" or bare(value).type != "identifier":
                continue
            if source.space(target) is Space.SHARED and _by_one_thread(source, node):
                yield target, bare(value)


def _by_one_thread(source: SourceContext, node: Node) -> bool:
    for above in source.ancestors(node):
        if above.type == "if_statement":
            condition = above.child_by_field_name("condition")
            value = condition.child_by_field_name("value") if condition is not None else None
            if value is not None and operator(value) == "==":
                return number(source, sides(value)[1]) == 0
    return False


class BufferNotToggled(Rule):
    """Reads and writes one half of a double buffer: ``b ^= 1`` becomes ``b ^= 0``."""

    name = "buffer-not-toggled"
    family = Family.SYNCHRONIZATION

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in source.nodes("assignment_expression"):
            right = sides(node)[1]
            if operator(node) == "^=" and number(source, right) == 1:
                yield source.swap(node, {right: "0"})
        for node in binaries(source, "^"):
            left, right = sides(node)
            if number(source, right) == 1 and source.is_integer(left):
                yield source.edit(node, source.text(left))
        for node in binaries(source, "-"):
            left, right = sides(node)
            if number(source, left) == 1 and source.is_integer(node):
                yield source.edit(node, source.text(right))
