"""One implementation as one text: its own headers inlined, its declarations rewritten.

A project's headers are inlined where they are included (a mutant may have edited them), and
``#line`` keeps messages and ``__LINE__`` on the mutant's files.
"""

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from gpu_eval.compilation.dialects import Dialect
from gpu_eval.compilation.shared_memory import SharedMemoryError
from gpu_eval.compilation.tokens import Token, TokenKind, tokenize

LABEL = "\x00label\x00"
"""Stands in a text for the namespace that its unit gives it."""

_INCLUDE = re.compile(r"\s*#\s*include\s*(?:<([^>]+)>|\"([^\"]+)\")")
_MACRO = re.compile(r"\s*#\s*(?:define|undef)\s+([A-Za-z_]\w*)")
_ONCE = re.compile(r"\s*#\s*pragma\s+once\b")
_CONDITION = re.compile(r"\s*#\s*(if|ifdef|ifndef|endif)\b")
_INCLUSION = re.compile("\x01([^\x01]+)\x01")


class SourceError(Exception):
    """A source that cannot be compiled, known before the compiler runs; reads like its message."""


class Gatherer:
    """Inlines the headers of one implementation.

    Parameters
    ----------
    files : mapping of str to str
        File name to text.
    dialect : Dialect

    Attributes
    ----------
    hoisted, macros : set of str
        Standard headers that were included, and names that were defined or undefined, so far.
    balanced : bool
        Whether brackets and conditions have closed so far.
    """

    def __init__(self, files: Mapping[str, str], dialect: Dialect) -> None:
        self.files = files
        self.dialect = dialect
        self.hoisted: set[str] = set()
        self.macros: set[str] = set()
        self.balanced = True
        self._once: set[str] = set()
        self._open: list[str] = []
        self._barriers = 0

    def inline(self, name: str) -> str:
        """Return a file's rewritten text with its headers, `LABEL` where the unit's name goes.

        Raises
        ------
        SourceError
            If a header is missing or not available, or a declaration cannot be rewritten.
        """
        self._open.append(name)
        tokens: Sequence[Token] = _tokens(self.files[name])
        if '"C"' in self.files[name]:
            tokens = _share_linkage(tokens)
        tokens = [
            self._rewritten(t) if t.kind is TokenKind.DIRECTIVE or t.text == "__syncthreads" else t
            for t in tokens
        ]
        self.balanced = self.balanced and _is_balanced(tokens)
        try:
            text = self.dialect.rewrite(tokens)
        except SharedMemoryError as error:
            raise SourceError(f"{name}:{error}") from error
        lines = [f'#line 1 "{LABEL}/{name}"']
        for number, line in enumerate(text.split("\n"), 1):
            lines.append(line)
            include = _INCLUSION.match(line)
            if include:
                lines[-1] = self._included(include.group(1), name, number)
        self._open.pop()
        return "\n".join(lines)

    def _rewritten(self, token: Token) -> Token:
        """Number barriers, mark includes for inlining and note macros."""
        if self.dialect.numbers_barriers and token.text == "__syncthreads":
            self._barriers += 1
            return Token(token.kind, f"::hostgpu::barrier_at<{self._barriers}>", token.line)
        if token.kind is not TokenKind.DIRECTIVE:
            return token
        macro = _MACRO.match(token.text)
        if macro:
            self.macros.add(macro.group(1))
        include = _INCLUDE.match(token.text)
        if include:
            name = include.group(1) or include.group(2)
            mark = f"\x01{name}\x01" + "\n" * token.text.count("\n")
            return Token(TokenKind.DIRECTIVE, mark, token.line)
        return token

    def _included(self, name: str, parent: str, line: int) -> str:
        path = self._find(name, parent)
        if path is not None:
            # A header that includes itself on the way is empty there, by its guard.
            if path in self._once or path in self._open:
                return ""
            if any(_ONCE.match(t.text) for t in _directives(self.files[path])):
                self._once.add(path)
            return f'{self.inline(path)}\n#line {line + 1} "{LABEL}/{parent}"'
        if name in self.dialect.hoisted:
            self.hoisted.add(name)
        elif name not in self.dialect.provided:
            raise SourceError(
                f"{parent}:{line}: error: header '{name}' is neither among the problem's files "
                f"nor available on {self.dialect.name}"
            )
        return ""

    def _find(self, name: str, parent: str) -> str | None:
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(parent), name))
        for candidate in (beside, posixpath.normpath(name)):
            if candidate in self.files:
                return candidate
        return None


@lru_cache(maxsize=128)
def _tokens(text: str) -> tuple[Token, ...]:
    """Tokenize once what many mutants share: headers, and the files that they leave alone."""
    return tuple(tokenize(text))


def _directives(text: str) -> list[Token]:
    return [t for t in _tokens(text) if t.kind is TokenKind.DIRECTIVE]


def _share_linkage(tokens: Iterable[Token]) -> list[Token]:
    """Give C linkage back to C++: one name in two namespaces would be one function."""
    result: list[Token] = []
    previous = ""
    for token in tokens:
        if token.kind is TokenKind.STRING and token.text == '"C"' and previous == "extern":
            token = Token(token.kind, '"C++"', token.line)
        if token.significant:
            previous = token.text
        result.append(token)
    return result


def _is_balanced(tokens: Sequence[Token]) -> bool:
    closing = {")": "(", "]": "[", "}": "{"}
    stack: list[str] = []
    conditions = 0
    for kind, text, _ in tokens:
        if kind is TokenKind.PUNCTUATION:
            if text in "([{":
                stack.append(text)
            elif text in closing and (not stack or stack.pop() != closing[text]):
                return False
        elif kind is TokenKind.DIRECTIVE:
            condition = _CONDITION.match(text)
            if condition:
                conditions += -1 if condition.group(1) == "endif" else 1
                if conditions < 0:
                    return False
        elif kind is TokenKind.COMMENT and text.startswith("/*") and not text.endswith("*/"):
            return False
    return not stack and conditions == 0
