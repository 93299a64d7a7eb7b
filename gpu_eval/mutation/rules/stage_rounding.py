"""Precision faults between the stages of a fused kernel: a finished sum in a narrow format."""

from collections.abc import Iterator

from tree_sitter import Node

from gpu_eval.mutation.kinds import Declared, Space
from gpu_eval.mutation.rule import Rule
from gpu_eval.mutation.rules import rounding
from gpu_eval.mutation.rules.loops import for_loops
from gpu_eval.mutation.rules.patterns import field, mentions, sides
from gpu_eval.mutation.rules.writes import accumulations, is_written
from gpu_eval.mutation.sites import Edit, SourceContext
from gpu_eval.mutation.tree import arguments, call_name, operator
from suiteopt.matrix.schema import Family


class _Result(Rule):
    """Rounds a finished sum where it is first used after the loop that makes it.

    The sum itself is exact to fp32: that is what automatic mixed precision does between a matrix
    product or a convolution and its epilogue. Stores to memory have rules of their own.
    """

    family = Family.PRECISION
    rounding: str

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        done: set[tuple[int, str]] = set()
        for target in sorted(_targets(source), key=lambda node: node.start_byte):
            root = source.root(target)
            declared = source.lookup(root) if root is not None else None
            if declared is None or declared.space is not Space.LOCAL:
                continue
            key = (declared.node.id, declared.name)
            loop = _summing_loop(source, target, declared)
            use = _first_use(source, declared, loop) if loop is not None else None
            if use is not None and key not in done:
                done.add(key)
                yield self._rounded(source, use)

    def _rounded(self, source: SourceContext, use: Node) -> Edit:
        """Return the edit that rounds what is read, also where ``sum *= s`` reads and writes it."""
        after = rounding.rounded(self.rounding, source.text(use))
        if not is_written(source, use):
            return source.edit(use, after)
        update = source.parent(use)
        assert update is not None
        value = source.wrapped(sides(update)[1])
        text = f"{source.text(use)} = {after} {operator(update)[0]} {value}"
        return source.edit(update, text)


def _targets(source: SourceContext) -> Iterator[Node]:
    """Yield what is added to, here or in a function that is handed an array."""
    for found in accumulations(source):
        yield found.target
    for node in source.nodes("call_expression"):
        if source.globals.functions.get(call_name(node)) != "void":
            continue
        for given in arguments(node):
            declared = source.lookup(given) if given.type == "identifier" else None
            zeroed = declared is not None and declared.value is not None
            if declared is not None and zeroed and declared.dimensions:
                yield given


def _summing_loop(source: SourceContext, target: Node, declared: Declared) -> Node | None:
    """Return the outermost loop that adds to one accumulator; not one over accumulators."""
    counted = {loop.node.id: loop.variable for loop in for_loops(source)}
    found = None
    for loop in source.loops(target):
        name = counted.get(loop.id)
        if source.inside(declared.node, loop):
            break
        if name is None or not mentions(target, name):
            found = loop
    return found


def _first_use(source: SourceContext, declared: Declared, loop: Node) -> Node | None:
    """Return the first read of an accumulator behind a loop, its subscripts included."""
    function = source.function(loop)
    for node in source.nodes("identifier"):
        if node.start_byte < loop.end_byte or source.text(node) != declared.name:
            continue
        if function is None or not source.inside(node, function):
            continue
        meant = source.lookup(node)
        if meant is None or meant.node.id != declared.node.id:
            continue
        whole, above = node, source.parent(node)
        while above is not None and above.type == "subscript_expression":
            if field(above, "argument").id != whole.id:
                break
            whole, above = above, source.parent(above)
        if source.is_float(whole) and _uses(source, whole):
            return whole
    return None


def _uses(source: SourceContext, node: Node) -> bool:
    """Return whether a value goes into another here: not into a comparison, nor overwritten."""
    above = source.parent(node)
    if is_written(source, node):
        return above is not None and operator(above) in ("+=", "-=", "*=", "/=")
    return above is None or operator(above) not in ("<", ">", "<=", ">=", "==", "!=")


class ResultFp16(_Result):
    """Hands a finished sum on in fp16: what follows its loop uses it rounded."""

    name = "result-fp16"
    rounding = rounding.FP16


class ResultBf16(_Result):
    """Hands a finished sum on in bf16: what follows its loop uses it rounded."""

    name = "result-bf16"
    rounding = rounding.BF16
