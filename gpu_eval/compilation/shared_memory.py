"""Rewriting of ``__shared__`` declarations for the host.

``__shared__ float tile[16][17];`` becomes a reference into the launch's shared memory, found by the
first thread that meets it. So a variable lies where its neighbours are a GPU's neighbours, works
inside templates (where gcc ignores a section attribute), and an overrun reads poison and then a
guard instead of the process's own data. ``extern __shared__ float s[];`` becomes a pointer. The
edit keeps every line where it was.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gpu_eval.compilation.tokens import Token, TokenKind


class SharedMemoryError(Exception):
    """A ``__shared__`` declaration that the host cannot give a place."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"{line}: error: {reason}")


_ALIGNMENTS = frozenset({"__align__", "__builtin_align__", "alignas"})
_STORAGE = frozenset({"__shared__", "extern", "static"})
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")


@dataclass
class _Scope:
    """Which braces are open: True for code, False for namespaces and types."""

    braces: list[bool]

    def inside_code(self) -> bool:
        return any(self.braces)


def rewrite_shared(tokens: Sequence[Token]) -> str:
    """Return the source with every ``__shared__`` declaration rewritten.

    Raises
    ------
    SharedMemoryError
        For a static variable outside a function, and for a declaration that is none.
    """
    pieces: list[str] = []
    start = 0  # index in `tokens` where the current statement begins
    flushed = 0
    scope = _Scope([])
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.kind is TokenKind.DIRECTIVE:
            start = index + 1
        elif token.kind is TokenKind.PUNCTUATION and token.text in ";{}":
            if token.text == "{":
                scope.braces.append(_is_code(tokens[start:index]))
            elif token.text == "}" and scope.braces:
                scope.braces.pop()
            start = index + 1
        elif token.kind is TokenKind.NAME and token.text == "__shared__":
            end = _end_of_statement(tokens, index)
            pieces.extend(t.text for t in tokens[flushed:start])
            pieces.append(_declaration(tokens[start:end], token.line, scope.inside_code()))
            flushed = start = end + 1
            index = end
        index += 1
    pieces.extend(t.text for t in tokens[flushed:])
    return "".join(pieces)


def _is_code(head: Sequence[Token]) -> bool:
    """Whether a brace after these tokens opens code, not a namespace or a type."""
    words = [t.text for t in head if t.significant]
    if "namespace" in words or (words[:1] == ["extern"] and len(words) == 2):
        return False
    return not ({"struct", "class", "union", "enum"} & set(words)) or "(" in words


def _end_of_statement(tokens: Sequence[Token], index: int) -> int:
    depth = 0
    for position in range(index, len(tokens)):
        token = tokens[position]
        if token.kind is not TokenKind.PUNCTUATION:
            continue
        if token.text in _OPEN:
            depth += 1
        elif token.text in _CLOSE:
            depth -= 1
        elif token.text == ";" and depth == 0:
            return position
        if depth < 0:
            break
    raise SharedMemoryError(tokens[index].line, "a __shared__ declaration without its ';'")


def _declaration(tokens: Sequence[Token], line: int, in_code: bool) -> str:
    dynamic = any(t.text == "extern" for t in tokens if t.significant)
    if not dynamic and not in_code:
        raise SharedMemoryError(
            line, "a static __shared__ variable must be declared inside the kernel"
        )
    lines = "".join(t.text for t in tokens).count("\n")
    words, alignment = _without_alignment([t.text for t in tokens if t.significant])
    words = [w for w in words if w not in _STORAGE]
    text = ""
    base: list[str] = []
    for position, declarator in enumerate(_split(words)):
        name_at = _name_position(declarator, line)
        before, name, dimensions = (
            declarator[:name_at],
            declarator[name_at],
            declarator[name_at + 1 :],
        )
        if position == 0:
            stars = next((i for i, w in enumerate(before) if w == "*"), len(before))
            base, before = before[:stars], before[stars:]
        if not base or (dimensions and dimensions[0] != "["):
            raise SharedMemoryError(line, "cannot read this __shared__ declaration")
        typed, extents = " ".join(base + before), " ".join(dimensions)
        text += (
            _dynamic(typed, name, dimensions, in_code)
            if dynamic
            else _static(typed, name, extents, alignment)
        )
    return text + "\n" * lines


def _static(typed: str, name: str, extents: str, alignment: str) -> str:
    return (
        f"static ::hostgpu::SharedSlot hg_slot_{name}; typedef {typed} hg_type_{name} {extents}"
        f"{alignment}; hg_type_{name}& {name} = ::hostgpu::shared<hg_type_{name}>(hg_slot_{name});"
    )


def _dynamic(typed: str, name: str, dimensions: Sequence[str], in_code: bool) -> str:
    rest = " ".join(dimensions[dimensions.index("]") + 1 :]) if dimensions else ""
    if in_code:
        return f"{typed} (*{name}){rest} = ({typed} (*){rest})::hostgpu_self.dynamic_shared;"
    return (
        f"static {typed} (*const& {name}){rest} = "
        f"({typed} (*const&){rest})::hostgpu_self.dynamic_shared;"
    )


def _without_alignment(words: Sequence[str]) -> tuple[list[str], str]:
    kept: list[str] = []
    alignment = ""
    index = 0
    while index < len(words):
        if words[index] in _ALIGNMENTS and words[index + 1 : index + 2] == ["("]:
            end = index + 2
            depth = 1
            while end < len(words) and depth:
                depth += (words[end] == "(") - (words[end] == ")")
                end += 1
            alignment += f" __attribute__((aligned({' '.join(words[index + 2 : end - 1])})))"
            index = end
        else:
            kept.append(words[index])
            index += 1
    return kept, alignment


def _split(words: Sequence[str]) -> list[list[str]]:
    """Split declarators at commas outside brackets and template arguments."""
    parts: list[list[str]] = [[]]
    depth = angle = 0
    for word in words:
        if word == "," and depth == 0 and angle == 0:
            parts.append([])
            continue
        depth += (word in _OPEN) - (word in _CLOSE)
        if depth == 0:
            angle = max(0, angle + (word == "<") - (word == ">"))
        parts[-1].append(word)
    return parts


def _name_position(declarator: Sequence[str], line: int) -> int:
    depth = 0
    last = -1
    for index, word in enumerate(declarator):
        if word == "[" and depth == 0:
            break
        depth += (word == "<") - (word == ">")
        if word[:1].isalpha() or word[:1] == "_":
            last = index
    if last < 0:
        raise SharedMemoryError(line, "cannot read this __shared__ declaration")
    return last
