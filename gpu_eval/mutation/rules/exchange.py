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
    field,
    number,
    sides,
)
from gpu_eval.mutation.rules.writes import index_of, is_written
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
    """Uses a thread's own value where the shared result of one thread is meant.

    That is what one thread alone writes (``if (t == 0) s[1] = total``), or the first element of an
    array into which all put a value: ``s[t] = v``, reduced or not, then ``s[0]``.
    """

    name = "broadcast-replaced-by-local"
    family = Family.SYNCHRONIZATION

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        published = {source.text(t): value for t, value in self._published(source)}
        for node in source.nodes("subscript_expression", "identifier"):
            value = published.get(source.text(node))
            if value is None or is_written(source, node):
                continue
            if self._is_at_hand(source, value, node):
                yield source.edit(node, source.text(value))
        for node in source.nodes("subscript_expression"):
            if not is_written(source, node):
                yield from self._own_for_reduced(source, node)

    def _own_for_reduced(self, source: SourceContext, node: Node) -> Iterator[Edit]:
        """Yield, for a read of a shared array's first element, each value that threads put in."""
        name, first = _first_index(source, node)
        if first is None or number(source, first) != 0 or source.space(node) is not Space.SHARED:
            return
        above = source.parent(node)
        if above is not None and above.type == "subscript_expression":
            return  # a part of the whole subscript
        for assignment in source.nodes("assignment_expression"):
            target, value = sides(assignment)
            if operator(assignment) != "=" or bare(value).type != "identifier":
                continue
            array, at = _first_index(source, target)
            everywhere = at is not None and number(source, at) is None
            same = array == name and source.function(assignment) == source.function(node)
            if everywhere and same and self._is_at_hand(source, bare(value), node):
                yield source.edit(node, source.text(bare(value)))

    @staticmethod
    def _is_at_hand(source: SourceContext, value: Node, node: Node) -> bool:
        return node.start_byte > value.end_byte and source.text(value) in source.visible(node)

    def _published(self, source: SourceContext) -> Iterator[tuple[Node, Node]]:
        """Yield shared places that one thread writes a local value to, with that value."""
        for node in source.nodes("assignment_expression"):
            target, value = sides(node)
            if operator(node) != "=" or bare(value).type != "identifier":
                continue
            if source.space(target) is Space.SHARED and _by_one_thread(source, node):
                yield target, bare(value)


def _first_index(source: SourceContext, node: Node) -> tuple[str, Node | None]:
    """Return the name of an array and the first index of a subscript of it, if there is one."""
    index = None
    while node.type == "subscript_expression":
        index = index_of(node)
        node = field(node, "argument")
    return (source.text(node), index) if node.type == "identifier" else ("", None)


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
