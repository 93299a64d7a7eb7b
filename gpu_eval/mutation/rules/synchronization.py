"""Synchronization faults: barriers missing, misplaced or too narrow, exchanges not made."""

# ruff: noqa: D102 (``sites`` is documented where it is declared)

from collections.abc import Iterator

from tree_sitter import Node

from gpu_eval.mutation.kinds import Space
from gpu_eval.mutation.rule import Rule
from gpu_eval.mutation.rules.loops import for_loops
from gpu_eval.mutation.rules.patterns import (
    calls,
    is_call_statement,
    statement_of,
    statements,
)
from gpu_eval.mutation.sites import Edit, SourceContext
from suiteopt.matrix.schema import Family

BARRIER = "__syncthreads"
_JUMPS = ("return_statement", "break_statement", "continue_statement")


def barriers(source: SourceContext, name: str = BARRIER) -> Iterator[Node]:
    """Yield the statements that are barriers."""
    for call in calls(source, name):
        statement = statement_of(source, call)
        if statement is not None:
            yield statement


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
            passed = _passed(source, statement, -1)
            if passed is not None:
                before = source.file.text(passed.start_byte, statement.start_byte).rstrip()
                text = f"{source.text(statement)} {before}"
                yield Edit(passed.start_byte, statement.end_byte, text)


class BarrierLate(Rule):
    """Synchronizes after the statement it should precede."""

    name = "barrier-late"
    family = Family.SYNCHRONIZATION

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for statement in barriers(source):
            passed = _passed(source, statement, 1)
            if passed is not None:
                after = source.file.text(statement.end_byte, passed.end_byte).lstrip()
                text = f"{after} {source.text(statement)}"
                yield Edit(statement.start_byte, passed.end_byte, text)


def _passed(source: SourceContext, statement: Node, direction: int) -> Node | None:
    """Return the nearest statement, before or after a barrier, that uses shared memory.

    Between it and the barrier there is none that jumps or synchronizes itself.
    """
    block = source.parent(statement)
    if block is None or block.type != "compound_statement":
        return None
    around = statements(block)
    position = next(i for i, other in enumerate(around) if other.id == statement.id)
    beyond = around[:position][::-1] if direction < 0 else around[position + 1 :]
    for other in beyond:
        if other.type in _JUMPS or is_call_statement(other, BARRIER):
            return None
        if _uses_shared(source, other):
            return other
    return None


def _uses_shared(source: SourceContext, statement: Node) -> bool:
    names = (n for n in source.nodes("identifier") if source.inside(n, statement))
    return any(source.space(name) is Space.SHARED for name in names)


class BarrierDivergent(Rule):
    """Lets only the first warp synchronize."""

    name = "barrier-divergent"
    family = Family.SYNCHRONIZATION

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        fields = {source.text(field) for field in source.nodes("field_expression")}
        # In a block of several rows threadIdx.x alone may never reach 32.
        if fields & {"threadIdx.y", "threadIdx.z"}:
            thread = "(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x"
        else:
            thread = "threadIdx.x"
        for statement in barriers(source):
            yield source.edit(statement, f"if ({thread} < 32) {source.text(statement)}")


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
