"""CUDA sources to syntax trees, byte offsets to spans.

The tree is made of a copy in which a few declarations that the grammar does not know are blanked
with spaces; every offset therefore also holds for the source as it was written.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser, Tree

from gpu_eval.mutation.fault import Span
from suiteopt.errors import UserError

_UNREADABLE = (b"__align__", b"__cluster_dims__")
_LITERAL_STARTS = (b"//", b"/*", b'"', b"'")


@dataclass(frozen=True)
class ParsedFile:
    """One source file with its syntax tree.

    Attributes
    ----------
    name : str
    data : bytes
        The text as it was written, UTF-8; offsets of all nodes refer to it.
    tree : tree_sitter.Tree
    line_starts : tuple of int
        Byte offset at which each line begins.
    """

    name: str
    data: bytes
    tree: Tree
    line_starts: tuple[int, ...]

    def text(self, start: int, end: int) -> str:
        """Return the text between two byte offsets."""
        return self.data[start:end].decode()

    def span(self, start: int, end: int) -> Span:
        """Return the span between two byte offsets; see `make_span`."""
        return make_span(self.name, self.data, start, end, self.line_starts)


def line_starts(data: bytes) -> tuple[int, ...]:
    """Return the byte offset at which each line begins; there is always a first line."""
    starts = [0]
    position = data.find(b"\n")
    while position != -1:
        starts.append(position + 1)
        position = data.find(b"\n", position + 1)
    return tuple(starts)


def make_span(
    name: str, data: bytes, start: int, end: int, starts: tuple[int, ...] | None = None
) -> Span:
    """Return a span with lines and columns from 1; columns count characters, not bytes.

    Parameters
    ----------
    name : str
        File name.
    data : bytes
        The whole file, UTF-8.
    start, end : int
        Byte offsets, ``0 <= start <= end <= len(data)``, neither inside a character.
    starts : tuple of int, optional
        `line_starts` of the data, if already known.
    """
    starts = line_starts(data) if starts is None else starts

    def place(offset: int) -> tuple[int, int]:
        line = bisect_right(starts, offset)
        return line, len(data[starts[line - 1] : offset].decode()) + 1

    (line, column), (end_line, end_column) = place(start), place(end)
    return Span(name, start, end, line, column, end_line, end_column)


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and all below it, in source order, parents first."""
    cursor = node.walk()
    while True:
        current = cursor.node
        if current is not None:
            yield current
        if cursor.goto_first_child() or cursor.goto_next_sibling():
            continue
        while cursor.goto_parent():
            if cursor.goto_next_sibling():
                break
        else:
            return


def parse(name: str, text: str) -> ParsedFile:
    """Parse one CUDA source.

    Raises
    ------
    UserError
        If the grammar cannot read the file whole; with file and line.
    """
    data = text.encode()
    tree = _parser().parse(blank_unreadable(data))
    starts = line_starts(data)
    if tree.root_node.has_error:
        broken = next(n for n in walk(tree.root_node) if n.is_error or n.is_missing)
        span = make_span(name, data, broken.start_byte, broken.start_byte, starts)
        what = f"a missing '{broken.type}'" if broken.is_missing else "code"
        raise UserError(
            f"{name}:{span.line}:{span.column}: {what} that the CUDA grammar cannot read; "
            "rewrite that line in plainer CUDA C++ (no split braces under #ifdef, "
            "no __device__ lambdas)"
        )
    return ParsedFile(name, data, tree, starts)


def parse_all(files: Mapping[str, str]) -> dict[str, ParsedFile]:
    """Parse every file of an implementation; see `parse`."""
    return {name: parse(name, text) for name, text in files.items()}


@lru_cache(maxsize=1)
def _parser() -> Parser:
    return Parser(Language(tree_sitter_cuda.language()))


def blank_unreadable(data: bytes) -> bytes:
    """Replace ``__align__(...)`` and ``__cluster_dims__(...)`` by spaces, lengths kept.

    Comments and literals stay as they are.
    """
    if not any(word in data for word in _UNREADABLE):
        return data  # almost always, and the walk below takes longer than the parser
    result = bytearray(data)
    position = 0
    while position < len(data):
        skipped = _skip_comment_or_literal(data, position)
        if skipped > position:
            position = skipped
            continue
        word_end = _word_end(data, position)
        if word_end == position:
            position += 1
            continue
        if data[position:word_end] in _UNREADABLE:
            end = _closing(data, word_end)
            for index in range(position, end):
                if data[index] != 0x0A:
                    result[index] = 0x20
            word_end = max(word_end, end)
        position = word_end
    return bytes(result)


def _word_end(data: bytes, position: int) -> int:
    """Return where the identifier or number that starts here ends (``1'000`` is one number)."""
    extra = b"_'" if data[position : position + 1].isdigit() else b"_"
    while position < len(data) and (
        data[position : position + 1].isalnum() or data[position] in extra
    ):
        position += 1
    return position


def _skip_comment_or_literal(data: bytes, position: int) -> int:
    """Return where the comment or literal that starts here ends; the position if none does."""
    if not data.startswith(_LITERAL_STARTS, position):
        return position
    if data.startswith(b"//", position):
        end = data.find(b"\n", position)
        return len(data) if end == -1 else end
    if data.startswith(b"/*", position):
        end = data.find(b"*/", position + 2)
        return len(data) if end == -1 else end + 2
    quote = data[position]
    index = position + 1
    while index < len(data) and data[index] not in (quote, 0x0A):
        index += 2 if data[index] == 0x5C else 1
    return min(index + 1, len(data))


def _closing(data: bytes, position: int) -> int:
    """Return the offset after the parenthesis that closes the next one; without one, the offset."""
    index = position
    while index < len(data) and data[index : index + 1].isspace():
        index += 1
    if data[index : index + 1] != b"(":
        return position
    depth = 0
    while index < len(data):
        depth += {0x28: 1, 0x29: -1}.get(data[index], 0)
        index += 1
        if depth == 0:
            return index
    return position
