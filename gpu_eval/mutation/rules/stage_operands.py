"""Indexing faults of what a stage reads: along the wrong axis, of the wrong tensor or group."""

# ruff: noqa: D102 (``sites`` is documented where it is declared)

from collections import Counter
from collections.abc import Iterator

from tree_sitter import Node

from gpu_eval.mutation.kinds import Declared, Kind, Space
from gpu_eval.mutation.parser import walk
from gpu_eval.mutation.rule import Rule
from gpu_eval.mutation.rules.coordinates import (
    GroupOffset,
    axes,
    begins_row,
    coordinates,
    derives,
    group_offset,
    is_address,
    is_group,
)
from gpu_eval.mutation.rules.patterns import bare, field, names_in, sides
from gpu_eval.mutation.rules.writes import (
    accumulations,
    index_of,
    is_written,
    stores,
    subscripts,
)
from gpu_eval.mutation.sites import Edit, SourceContext
from gpu_eval.mutation.tree import arguments, call_name, operator
from suiteopt.matrix.schema import Family


def _reads(source: SourceContext) -> Iterator[tuple[Node, Node]]:
    """Yield the reads of floats from global memory, each with its index."""
    for node, index in subscripts(source, Space.GLOBAL):
        if source.is_float(node) and not is_written(source, node):
            yield node, index


class ReadAlongOtherAxis(Rule):
    """Reads an operand along the wrong axis: ``bias[channel]`` becomes ``bias[column]``."""

    name = "read-along-other-axis"
    family = Family.INDEXING

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        flat = {_place(source, node, sides(node)[0]) for node in stores(source, Space.GLOBAL)}
        found = [
            (node, index)
            for node, index in _reads(source)
            if _of_operand(source, node) and _place(source, node, node) not in flat
        ]
        indices = {_place(source, node, node) for node, _ in found}
        for node, index in found:
            known, names = coordinates(source, node), names_in(index)
            if not names or not names <= set(known) or any(operator(n) == "*" for n in walk(index)):
                continue
            own, used = [known[name] for name in names], axes(source, node)
            if any(begins_row(source, one) for one in own):
                continue
            others = [
                other
                for other in known.values()
                if other.name in used - names
                and not is_address(source, other)
                and (
                    (_place(source, node, node)[0], other.name) in indices
                    or not any(_related(source, one, other) for one in own)
                )
            ]
            if others:
                nearest = max(others, key=lambda one: one.node.start_byte)
                yield source.swap(node, {index: nearest.name})


def _of_operand(source: SourceContext, node: Node) -> bool:
    """Return whether a read is one of a kernel's tensor, not of a row or column of one."""
    operand = field(node, "argument")
    declared = source.lookup(operand) if operand.type == "identifier" else None
    return declared is not None and declared.space is Space.GLOBAL


def _place(source: SourceContext, node: Node, subscript: Node) -> tuple[int, str]:
    """Return the function around a node and the text of a subscript's index."""
    function, index = source.function(node), index_of(subscript)
    text = source.text(bare(index)) if index is not None else ""
    return (function.id if function is not None else 0), text


def _related(source: SourceContext, one: Declared, other: Declared) -> bool:
    """Return whether one of two names is computed from the other."""
    return derives(source, one, other) or derives(source, other, one)


class ReadOtherTensor(Rule):
    """Reads another tensor at the same place: ``bias[c]`` becomes ``scale[c]``."""

    name = "read-other-tensor"
    family = Family.INDEXING

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        found = [
            (node, field(node, "argument"), _place(source, node, node))
            for node, _ in _reads(source)
            if field(node, "argument").type == "identifier"
        ]
        counts = Counter((key[0], source.text(name)) for _, name, key in found)
        for node, name, place in found:
            own = source.lookup(name)
            here = list(dict.fromkeys(source.text(n) for _, n, key in found if key == place))
            start = here.index(source.text(name)) if own is not None else 0
            for other in here[start + 1 :] + here[:start]:
                that = source.visible(node).get(other)
                if own is None or that is None or that.base != own.base:
                    continue
                both = (own, that)
                # Where each is read once, the launch plan's faults pass one for the other.
                if all(d.space is Space.GLOBAL and counts[place[0], d.name] == 1 for d in both):
                    continue
                yield source.swap(node, {name: other})
                break


class StatisticsOfOtherGroup(Rule):
    """Takes the statistics of the group before: the row, channel or group is one too small.

    That is either what a function of the sources returns for the group, or what a loop that
    writes nothing reads of the group's elements. The first group is right, so that nothing is
    read out of bounds.
    """

    name = "statistics-of-other-group"
    family = Family.INDEXING

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in source.nodes("call_expression"):
            given = arguments(node)
            pointers = [a for a in given if source.kind(a) is Kind.POINTER]
            returned = source.globals.functions.get(call_name(node), "void")
            if returned == "void" or not any(source.space(a) is Space.GLOBAL for a in pointers):
                continue
            for argument in given:
                if source.is_integer(argument) and is_group(source, argument):
                    text = source.wrapped(argument)
                    before = f"{text} > 0 ? {text} - 1 : {text}"
                    yield source.swap(node, {argument: before})
                    break
        for node, index in _reads(source):
            offset = self._offset(source, node, index)
            if offset is not None and _in_statistics(source, node):
                back = f"({offset.group} > 0 ? {offset.stride} : 0)"
                back = f"{source.text(index)} - {back}"
                yield source.swap(node, {index: back})

    def _offset(self, source: SourceContext, node: Node, index: Node) -> GroupOffset | None:
        """Return where the group of a read begins, from its index or what names in it stand for."""
        visible = source.visible(node)
        pointer = source.root(node)
        names = [source.text(n) for n in walk(index) if n.type == "identifier"]
        if pointer is not None:
            names.append(source.text(pointer))
        held = [visible[n].value for n in names if n in visible]
        for place in (index, *held):
            found = group_offset(source, place) if place is not None else None
            if found is not None and found.names <= set(visible) | set(source.globals.objects):
                return found
        return None


def _in_statistics(source: SourceContext, node: Node) -> bool:
    """Return whether a read stands in a loop that stores nothing and multiplies no two tensors."""
    around = source.loops(node)
    if not around:
        return False
    loop = around[0]
    for below in walk(loop):
        if below.type != "assignment_expression":
            continue
        target = field(below, "left")
        if source.space(target) in (Space.GLOBAL, Space.SHARED):
            return False
    for found in accumulations(source):
        if found.factors is not None and source.inside(found.site, loop):
            one, two = (source.text(bare(f)) for f in found.factors)
            if one != two:
                return False
    return True
