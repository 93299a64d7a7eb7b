"""Where in a definition something is said: errors name a file and a line."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from suiteopt.errors import UserError

TENSORS = ("TensorSpec", "ParameterSpec")
"""What declares a tensor."""


@dataclass(frozen=True)
class _Index:
    """The literals of a definition file.

    Attributes
    ----------
    literals : mapping of str to int
        String to the line where it stands first.
    calls : mapping of (str, str) to int
        Function and a string that it is called with first, or as ``name``, to the last such line:
        of two definitions of one name the second is the wrong one.
    anchor : int
        The line of ``PROBLEM = ...``.
    """

    literals: Mapping[str, int]
    calls: Mapping[tuple[str, str], int]
    anchor: int

    @classmethod
    def read(cls, path: Path) -> "_Index":
        """Index a file; one that cannot be read any more has no literals."""
        try:
            tree = ast.parse(path.read_text("utf-8"))
        except (OSError, SyntaxError, ValueError):
            tree = ast.Module([], [])
        literals: dict[str, int] = {}
        calls: dict[tuple[str, str], int] = {}
        anchor = 1
        for node in ast.walk(tree):
            match node:
                case ast.Constant(value=str() as value):
                    literals[value] = min(literals.get(value, node.lineno), node.lineno)
                case ast.Call(func=ast.Name(id=function)):
                    for name, line in _naming(node):
                        calls[function, name] = max(calls.get((function, name), 0), line)
                case ast.Assign(targets=[ast.Name(id="PROBLEM")]):
                    anchor = node.lineno
        return cls(literals, calls, anchor)


@dataclass(frozen=True)
class Definition:
    """A definition file, read when something in it is wrong.

    Attributes
    ----------
    path : Path
    problem : str
        The problem's id, for messages.
    """

    path: Path
    problem: str

    @cached_property
    def _index(self) -> _Index:
        return _Index.read(self.path)

    def line(self, text: str = "", *functions: str) -> int:
        """Return the line where a text is said.

        Parameters
        ----------
        text : str
            Looked for as what one of ``functions`` is called with, then as a literal, then (for
            f-strings) by the longest literal that is a part of it; else the line of ``PROBLEM``.
        *functions : str
            For example ``TensorSpec``.
        """
        index = self._index
        for function in functions:
            if (function, text) in index.calls:
                return index.calls[function, text]
        if text in index.literals:
            return index.literals[text]
        parts = [part for part in index.literals if len(part) > 2 and part in text]
        return index.literals[max(parts, key=len)] if parts else index.anchor

    def error(self, reason: str, text: str = "", *functions: str) -> UserError:
        """Return an error that points at a line; see `line`."""
        line = self.line(text, *functions)
        return UserError(f"{self.path}:{line}: problem {self.problem}: {reason}")


def _naming(call: ast.Call) -> list[tuple[str, int]]:
    """Return the strings that may name what a call makes, with their lines."""
    named = [k.value for k in call.keywords if k.arg == "name"]
    return [
        (node.value, node.lineno)
        for node in [*call.args[:1], *named]
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
