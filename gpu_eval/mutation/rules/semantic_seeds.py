"""Semantic faults of what sums and extremes start from."""

# ruff: noqa: D102 (``sites`` is documented where it is declared)

from collections.abc import Iterator

from tree_sitter import Node

from gpu_eval.mutation.kinds import Space
from gpu_eval.mutation.rule import Rule
from gpu_eval.mutation.rules.loops import for_loops
from gpu_eval.mutation.rules.patterns import (
    bare,
    field,
    is_pure,
    names_in,
    number,
    sentinel_sign,
    sides,
    statement_of,
)
from gpu_eval.mutation.rules.writes import accumulations
from gpu_eval.mutation.sites import Edit, SourceContext
from gpu_eval.mutation.tree import call_name, operator
from suiteopt.matrix.schema import Family

MAXIMA = ("fmaxf", "max", "fmax")
MINIMA = ("fminf", "min", "fmin")


class _Sentinel(Rule):
    """Replaces what stands for an infinity."""

    family = Family.SEMANTIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        types = ("unary_expression", "identifier", "number_literal", "call_expression")
        done: list[Node] = []
        for node in source.nodes(*types):
            if any(source.inside(node, outer) for outer in done):
                continue
            sign = sentinel_sign(source, node)
            above = source.parent(node)
            declares = above is not None and above.type == "init_declarator"
            at_file_scope = declares and source.function(node) is None
            if sign and not at_file_scope:
                done.append(node)
                yield source.edit(node, self.instead(sign))

    def instead(self, sign: int) -> str:
        raise NotImplementedError


class SeedZero(_Sentinel):
    """Starts an extreme at zero instead of infinity: wrong where all values are beyond it."""

    name = "seed-zero"

    def instead(self, sign: int) -> str:
        return "0.0f"


class SeedTooNear(_Sentinel):
    """Starts an extreme at 1e4 instead of infinity, as hand-written sentinels do."""

    name = "seed-too-near"

    def instead(self, sign: int) -> str:
        return "1e4f" if sign > 0 else "-1e4f"


class SeedOne(Rule):
    """Starts a sum at one: ``acc = 0`` becomes ``acc = 1``."""

    name = "seed-one"
    family = Family.SEMANTIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for value in zero_seeds(source):
            yield source.edit(value, "1.0f")
        summed = {_key(source, found.target) for found in accumulations(source)}
        for node in source.nodes("init_declarator"):
            value, name = field(node, "value"), field(node, "declarator")
            zeros = value.type == "initializer_list" and all(
                number(source, c) == 0 for c in value.named_children
            )
            while name.type == "array_declarator":
                name = field(name, "declarator")
            if zeros and _key(source, name) in summed and source.text(value).count("{") == 1:
                yield source.edit(value, "{1.0f}")


def zero_seeds(source: SourceContext) -> Iterator[Node]:
    """Yield the zeros that accumulators start from, in declarations and assignments."""
    summed = {_key(source, found.target) for found in accumulations(source)}
    for node in source.nodes("init_declarator", "assignment_expression"):
        assigned = node.type == "assignment_expression"
        if assigned and operator(node) != "=":
            continue
        target = sides(node)[0] if assigned else field(node, "declarator")
        value = sides(node)[1] if assigned else field(node, "value")
        if _key(source, target) in summed and number(source, value) == 0:
            yield value


def _key(source: SourceContext, target: Node) -> tuple[int, str]:
    """Return what identifies an accumulator: its function and the name it starts from."""
    function, root = source.function(target), source.root(target)
    name = source.text(root if root is not None else target)
    return (function.id if function is not None else 0), name


class SeedFirstElement(Rule):
    """Starts a sum at its first term, which is then counted twice."""

    name = "seed-first-element"
    family = Family.SEMANTIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        seeds = {_key(source, self._target(value, source)): value for value in zero_seeds(source)}
        for loop in for_loops(source):
            for found in accumulations(source):
                around = source.loops(found.site)
                seed = seeds.get(_key(source, found.target))
                if seed is None or not around or around[0].id != loop.node.id:
                    continue
                first = self._first_term(source, found.site, loop.variable, loop.start, seed)
                if first is not None and seed.end_byte < loop.node.start_byte:
                    yield source.edit(seed, first)

    def _target(self, value: Node, source: SourceContext) -> Node:
        above = source.parent(value)
        assert above is not None
        return field(above, "declarator" if above.type == "init_declarator" else "left")

    def _first_term(
        self, source: SourceContext, site: Node, variable: str, start: Node, seed: Node
    ) -> str | None:
        value = bare(sides(site)[1])
        if operator(site) != "+=" or not is_pure(value):
            return None
        known = names_in(value) - {variable}
        visible = source.visible(seed)
        callable_names = {call_name(c) for c in source.nodes("call_expression")}
        builtins = {"threadIdx", "blockIdx", "blockDim", "gridDim"}
        if not all(n in visible or n in callable_names or n in builtins for n in known):
            return None
        if variable not in names_in(value):
            return None
        uses = {
            n: source.wrapped(start)
            for n in source.nodes("identifier")
            if source.inside(n, value) and source.text(n) == variable
        }
        return source.substitute(value, uses)


class StaleAccumulator(Rule):
    """Does not reset an accumulator: the assignment of its seed is left out."""

    name = "stale-accumulator"
    family = Family.SEMANTIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in source.nodes("assignment_expression"):
            target, value = sides(node)
            statement = statement_of(source, node)
            if operator(node) != "=" or statement is None or not source.is_float(target):
                continue
            seed = number(source, value) is not None or sentinel_sign(source, value) != 0
            name = source.root(target)
            declared = source.lookup(name) if name is not None else None
            if not seed or declared is None:
                continue
            held = declared.space is Space.SHARED or declared.value is not None
            if held and source.space(target) in (Space.SHARED, Space.LOCAL):
                yield source.edit(statement, ";")
