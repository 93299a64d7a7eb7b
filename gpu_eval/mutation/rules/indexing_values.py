"""Indexing faults of names: the wrong loop variable, lane, argument, or width of an index."""

# ruff: noqa: D102 (``sites`` is documented where it is declared)

from collections.abc import Iterator

from tree_sitter import Node

from gpu_eval.mutation.kinds import WIDE, Kind, Space, type_base
from gpu_eval.mutation.rule import Rule
from gpu_eval.mutation.rules.patterns import bare, field, number, sides
from gpu_eval.mutation.rules.writes import is_written, stores
from gpu_eval.mutation.sites import Edit, SourceContext
from gpu_eval.mutation.tree import arguments, call_name, operator
from suiteopt.matrix.schema import Family


class LoopVariableConfused(Rule):
    """Indexes with the variable of another loop around: ``w[kh * 3 + kw]`` with ``kw`` twice."""

    name = "loop-variable-confused"
    family = Family.INDEXING

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in source.nodes("identifier"):
            variables = _loop_variables(source, node)
            name = source.text(node)
            if name not in variables or len(variables) < 2:
                continue
            site = _index_around(source, node)
            register = site is not None and source.space(site) is Space.LOCAL
            if site is not None and not register:
                other = variables[variables.index(name) - 1]
                yield source.swap(site, {node: other})


def _loop_variables(source: SourceContext, node: Node) -> list[str]:
    """Return the variables of the loops around a node, of unit step, innermost first."""
    found = []
    for loop in source.loops(node):
        update, body = loop.child_by_field_name("update"), loop.child_by_field_name("body")
        if update is None or body is None or not source.inside(node, body):
            continue
        if update.type == "update_expression":
            found.append(source.text(field(update, "argument")))
    return found


def _index_around(source: SourceContext, node: Node) -> Node | None:
    """Return the subscript whose index mentions a node, or the integer it initialises."""
    below = node
    for above in source.ancestors(node):
        if above.type == "subscript_expression" and field(above, "argument").id != below.id:
            return above
        if above.type == "init_declarator":
            value = field(above, "value")
            is_sum = value.type == "binary_expression" and source.is_integer(value)
            return value if is_sum and source.inside(node, value) else None
        if above.type.endswith("statement"):
            return None
        below = above
    return None


class IndexTruncated(Rule):
    """Computes a 64-bit index in 32 bits: ``(long long)i * n`` becomes ``(int)i * n``."""

    name = "index-truncated"
    family = Family.INDEXING

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        whole: list[Node] = []
        for node in source.nodes("init_declarator"):
            value, above = field(node, "value"), source.parent(node)
            base = type_base(above.child_by_field_name("type")) if above is not None else ""
            if base in WIDE and value.type == "binary_expression" and source.is_integer(value):
                whole.append(value)
                yield source.edit(value, f"(int)({source.text(value)})")
        for node in source.nodes("cast_expression", "call_expression"):
            kind = _cast_type(node)
            base = type_base(kind.child_by_field_name("type")) if kind is not None else ""
            if kind is None or base not in WIDE or any(source.inside(node, v) for v in whole):
                continue
            if kind.child_by_field_name("declarator") is None:
                yield source.swap(node, {kind: "int"})


def _cast_type(node: Node) -> Node | None:
    """Return the type that a cast of either notation casts to."""
    if node.type == "cast_expression":
        return field(node, "type")
    function = field(node, "function")
    lists = [c for c in function.named_children if c.type == "template_argument_list"]
    return lists[0].named_children[0] if lists and call_name(node) == "static_cast" else None


class StoreToFirstElement(Rule):
    """Writes every result of an axis to its start: a term of a store's index is forgotten."""

    name = "store-term-dropped"
    family = Family.INDEXING

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in stores(source, Space.GLOBAL):
            target = sides(node)[0]
            for inner in target.named_children[1:]:
                index = bare(inner.named_children[0]) if inner.named_children else inner
                if index.type == "binary_expression" and operator(index) == "+":
                    _, right = sides(index)
                    if number(source, right) is None:
                        yield source.swap(target, {index: source.text(right)})


class VectorLaneDuplicated(Rule):
    """Reads a lane of a vector twice: ``v.y`` becomes ``v.x``, ``v.w`` becomes ``v.z``."""

    name = "vector-lane-duplicated"
    family = Family.INDEXING

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node, lane in _lane_reads(source):
            other = {"y": "x", "w": "z"}.get(source.text(lane))
            if other is not None:
                yield source.swap(node, {lane: other})


class VectorLaneDropped(Rule):
    """Loses the last lane of a vector: ``v.w`` becomes zero."""

    name = "vector-lane-dropped"
    family = Family.INDEXING

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node, lane in _lane_reads(source):
            if source.text(lane) == "w":
                yield source.edit(node, "0.0f")


def _lane_reads(source: SourceContext) -> Iterator[tuple[Node, Node]]:
    for node in source.nodes("field_expression"):
        inner = field(node, "argument")
        lane = source.kind(inner) is Kind.VECTOR and source.is_float(node)
        if lane and not is_written(source, node):
            yield node, field(node, "field")


class CallArgumentsSwapped(Rule):
    """Passes the first two arguments of a device function in the wrong order."""

    name = "call-arguments-swapped"
    family = Family.INDEXING

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in source.nodes("call_expression"):
            given = arguments(node)
            if call_name(node) not in source.globals.functions or len(given) < 2:
                continue
            a, b = given[:2]
            same = source.kind(a) is source.kind(b) and source.kind(a) is not Kind.UNKNOWN
            if same and source.text(a) != source.text(b):
                yield source.swap(node, {a: source.text(b), b: source.text(a)})
