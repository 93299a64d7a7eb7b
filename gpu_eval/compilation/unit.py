"""Many implementations in one translation unit, each in a namespace of its own.

Includes of system and CUDA headers are hoisted, a project's own headers are inlined where they are
included (a mutant may have edited them), ``#line`` keeps messages and ``__LINE__`` on the mutant's
files, and macros are restored after each mutant.
"""

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from gpu_eval.compilation.shared_memory import SharedMemoryError, rewrite_shared
from gpu_eval.compilation.tokens import Token, TokenKind, tokenize
from gpu_eval.devices.base import KernelSource

# What host_runtime.h stands for itself.
_PROVIDED = frozenset(
    {
        "cuda.h",
        "cuda_runtime.h",
        "cuda_runtime_api.h",
        "cuda_fp16.h",
        "cuda_fp16.hpp",
        "cuda_bf16.h",
        "vector_types.h",
        "vector_functions.h",
        "device_launch_parameters.h",
        "device_functions.h",
        "math_constants.h",
        "sm_30_intrinsics.h",
        "host_defines.h",
        "builtin_types.h",
        "cassert",
        "assert.h",
        "cmath",
        "math.h",
        "cfloat",
        "float.h",
        "climits",
        "limits.h",
        "cstdint",
        "stdint.h",
        "cstddef",
        "stddef.h",
        "cstring",
        "string.h",
        "cstdlib",
        "stdlib.h",
        "cstdio",
        "stdio.h",
    }
)
_HALF_HEADERS = frozenset({"cuda_fp16.h", "cuda_bf16.h"})
_STANDARD = frozenset({"limits", "type_traits", "utility", "initializer_list", "array", "tuple"})

_INCLUDE = re.compile(r"\s*#\s*include\s*(?:<([^>]+)>|\"([^\"]+)\")")
_MACRO = re.compile(r"\s*#\s*(?:define|undef)\s+([A-Za-z_]\w*)")
_ONCE = re.compile(r"\s*#\s*pragma\s+once\b")
_CONDITION = re.compile(r"\s*#\s*(if|ifdef|ifndef|endif)\b")


@dataclass(frozen=True)
class Dialect:
    """What differs between the compilers that units are for.

    Attributes
    ----------
    name : str
    provided : frozenset of str
        Headers that are left out, since the runtime stands for them or nothing is needed.
    hoisted : frozenset of str
        Headers that are included once, before all members.
    rewrite : callable
        Tokens of a file to its text.
    numbers_barriers : bool
        Whether every barrier is told from the others, so that divergence can be seen.
    """

    name: str
    provided: frozenset[str]
    hoisted: frozenset[str]
    rewrite: Callable[[Sequence[Token]], str]
    numbers_barriers: bool


def _verbatim(tokens: Sequence[Token]) -> str:
    return "".join(token.text for token in tokens)


HOST = Dialect("the host device", _PROVIDED, _STANDARD, rewrite_shared, True)
CUDA = Dialect("NVRTC", _PROVIDED - {"cuda_fp16.h", "cuda_bf16.h"}, _HALF_HEADERS, _verbatim, False)


class SourceError(Exception):
    """A source that cannot be compiled, known before the compiler runs; reads like its message."""


@dataclass(frozen=True)
class Prepared:
    """One implementation, ready to stand in a unit.

    Attributes
    ----------
    source : KernelSource
    hoisted : tuple of str
        Standard headers that it includes.
    body : str
        Rewritten text with ``{label}`` where the unit's name for it goes.
    macros : tuple of str
        Names that it defines or undefines.
    balanced : bool
        Whether brackets and conditions close; one that is not compiles alone, since it would take
        its neighbours with it.
    """

    source: KernelSource
    hoisted: tuple[str, ...]
    body: str
    macros: tuple[str, ...]
    balanced: bool


_LABEL = "\x00label\x00"


def label(index: int) -> str:
    """Return the namespace of a unit's member; all have the same length."""
    return f"hgm{index:05d}"


def table(index: int) -> str:
    """Return the symbol of a member's table of kernels."""
    return f"{label(index)}_table"


def prepare(source: KernelSource, dialect: Dialect = HOST) -> Prepared:
    """Inline, rewrite and check one implementation.

    Raises
    ------
    SourceError
        If a header is missing or not available, or a declaration cannot be rewritten.
    """
    gatherer = _Gatherer(source.files, dialect)
    body = gatherer.inline(source.main)
    return Prepared(
        source,
        tuple(sorted(gatherer.hoisted)),
        body,
        tuple(sorted(gatherer.macros)),
        gatherer.balanced,
    )


def assemble(members: Sequence[Prepared]) -> str:
    """Return the text of a unit.

    Parameters
    ----------
    members : sequence of Prepared
        Member i gets the namespace ``label(i)`` and the table ``table(i)``.
    """
    lines = [f"#include <{name}>" for name in sorted({h for m in members for h in m.hoisted})]
    lines.append('#include "host_runtime.h"')
    for index, member in enumerate(members):
        name = label(index)
        lines += [f'#pragma push_macro("{macro}")' for macro in member.macros]
        lines.append(f"namespace {name} {{ namespace {{")
        lines.append(member.body.replace(_LABEL, name))
        lines.append("} }")
        lines += [f'#pragma pop_macro("{macro}")' for macro in member.macros]
        lines.append(f'#line 1 "{name}/{member.source.main}"')
        entries = "".join(
            f'HOSTGPU_KERNEL("{kernel}", {name}::{kernel}), ' for kernel in member.source.kernels
        )
        lines.append(f"HOSTGPU_TABLE({table(index)}) {{ {entries}{{}} }};")
    return "\n".join(lines) + "\n"


def assemble_cuda(members: Sequence[Prepared], first: int = 0) -> str:
    """Return the text of a unit for NVRTC; member i gets the namespace ``label(first + i)``."""
    lines = [f"#include <{name}>" for name in sorted({h for m in members for h in m.hoisted})]
    for index, member in enumerate(members, first):
        name = label(index)
        lines.append(f"namespace {name} {{")
        lines.append(member.body.replace(_LABEL, name))
        lines.append("}")
        # NVRTC cannot push and pop macros; nothing but members defines any, so these go.
        lines += [f"#undef {macro}" for macro in member.macros]
    return "\n".join(lines) + "\n"


class _Gatherer:
    """Inlines the headers of one implementation."""

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
        self._open.append(name)
        tokens = [self._rewritten(t) for t in _share_linkage(_tokens(self.files[name]))]
        self.balanced = self.balanced and _is_balanced(tokens)
        try:
            text = self.dialect.rewrite(tokens)
        except SharedMemoryError as error:
            raise SourceError(f"{name}:{error}") from error
        lines = [f'#line 1 "{_LABEL}/{name}"']
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
            return f'{self.inline(path)}\n#line {line + 1} "{_LABEL}/{parent}"'
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


_INCLUSION = re.compile("\x01([^\x01]+)\x01")


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
    for token in tokens:
        if token.kind is TokenKind.DIRECTIVE:
            condition = _CONDITION.match(token.text)
            if condition:
                conditions += -1 if condition.group(1) == "endif" else 1
                if conditions < 0:
                    return False
        elif token.kind is TokenKind.COMMENT:
            if token.text.startswith("/*") and not token.text.endswith("*/"):
                return False
        elif token.kind is TokenKind.PUNCTUATION:
            if token.text in "([{":
                stack.append(token.text)
            elif token.text in closing and (not stack or stack.pop() != closing[token.text]):
                return False
    return not stack and conditions == 0
