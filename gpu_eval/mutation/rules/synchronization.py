"""Synchronization faults: barriers missing, misplaced or too narrow, exchanges not made."""

# ruff: noqa: D102 (``sites`` is documented where it is declared)

from collections.abc import Iterator

from tree_sitter import Node

from gpu_eval.mutation.kinds import Space
from gpu_eval.mutation.rule import Rule
from gpu_eval.mutation.rules.loops import for_loops
from gpu_eval.mutation.rules.patterns import (
    ATOMICS,
    bare,
    binaries,
    calls,
    is_call_statement,
    number,
    sides,
    statement_of,
    statements,
)
from gpu_eval.mutation.rules.writes import is_written
from gpu_eval.mutation.sites import Edit, SourceContext
from gpu_eval.mutation.tree import arguments, call_name, operator
from suiteopt.matrix.schema import Family

BARRIER = "__syncthreads"


def barriers(source: SourceContext, name: str = BARRIER) -> Iterator[Node]:
    """Yield the statements that are barriers."""
    for call in calls(source, name):
        statement = statement_of(source, call)
        if statement is not None:
            yield statement


def neighbours(source: SourceContext, statement: Node) -> tuple[Node | None, Node | None]:
    """Return the statements before and after one in its block."""
    block = source.parent(statement)
    if block is None or block.type != "compound_statement":
        return None, None
    around = statements(block)
    position = next(i for i, other in enumerate(around) if other.id == statement.id)
    before = around[position - 1] if position > 0 else None
    after = around[position + 1] if position + 1 < len(around) else None
    return before, after


class BarrierRemoved(Rule):
    """Leaves a barrier out."""

    name = "barrier-removed"
    family = Family.SYNCHRONIZATION

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for statement in barriers(source):
            yield source.edit(statement, ";")


class BarrierToWarp(Rule):
    """Synchronizes a warp instead of the block: ``__syncwarp`` for ``__syncthreads``."""

    name = "barrier-to-warp"
    family = Family.SYNCHRONIZATION

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for statement in barriers(source):
            yield source.edit(statement, "__syncwarp();")


class BarrierEarly(Rule):
    """Synchronizes before the statement it should follow."""

    name = "barrier-early"
    family = Family.SYNCHRONIZATION

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for statement in barriers(source):
            before, _ = neighbours(source, statement)
            if before is not None and _may_move_over(before):
                text = f"{source.text(statement)} {source.text(before)}"
                yield Edit(before.start_byte, statement.end_byte, text)


class BarrierLate(Rule):
    """Synchronizes after the statement it should precede."""

    name = "barrier-late"
    family = Family.SYNCHRONIZATION

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for statement in barriers(source):
            _, after = neighbours(source, statement)
            if after is not None and _may_move_over(after):
                text = f"{source.text(after)} {source.text(statement)}"
                yield Edit(statement.start_byte, after.end_byte, text)


def _may_move_over(statement: Node) -> bool:
    jumps = ("return_statement", "break_statement", "continue_statement")
    return statement.type not in jumps and not is_call_statement(statement, BARRIER)


class BarrierDivergent(Rule):
    """Lets only the first warp synchronize."""

    name = "barrier-divergent"
    family = Family.SYNCHRONIZATION

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for statement in barriers(source):
            yield source.edit(statement, f"if (threadIdx.x < 32) {source.text(statement)}")


class BarrierFirstIterationOnly(Rule):
    """Synchronizes in the first iteration of a loop only."""

    name = "barrier-first-iteration-only"
    family = Family.SYNCHRONIZATION

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        counted = {loop.node.id: loop for loop in for_loops(source)}
        for statement in barriers(source):
            around = source.loops(statement)
            loop = counted.get(around[0].id) if around else None
            if loop is not None and loop.step is not None:
                first = f"{loop.variable} == {source.wrapped(loop.start)}"
                yield source.edit(statement, f"if ({first}) {source.text(statement)}")


class WarpBarrierRemoved(Rule):
    """Leaves a warp's barrier out: ``__syncwarp()``."""

    name = "warp-barrier-removed"
    family = Family.SYNCHRONIZATION

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for statement in barriers(source, "__syncwarp"):
            yield source.edit(statement, ";")


class FenceRemoved(Rule):
    """Leaves a memory fence out: ``__threadfence()``."""

    name = "fence-removed"
    family = Family.SYNCHRONIZATION

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for name in ("__threadfence", "__threadfence_block"):
            for statement in barriers(source, name):
                yield source.edit(statement, ";")


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
