"""Where in a definition something is said: errors name a file and a line."""

import ast
from dataclasses import dataclass, field
from pathlib import Path

from suiteopt.errors import UserError


@dataclass(frozen=True)
class Definition:
    """The text of a definition file, searchable for literals.

    Attributes
    ----------
    path : Path
    problem : str
        The problem's id, for messages.
    """

    path: Path
    problem: str
    _literals: dict[str, int] = field(init=False, repr=False)
    _anchor: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        literals: dict[str, int] = {}
        anchor = 1
        try:
            tree = ast.parse(self.path.read_text("utf-8"))
        except (OSError, SyntaxError, ValueError):
            tree = ast.Module([], [])
        for node in ast.walk(tree):
            match node:
                case ast.Constant(value=str() as value):
                    literals[value] = min(literals.get(value, node.lineno), node.lineno)
                case ast.Assign(targets=[ast.Name(id="PROBLEM")]):
                    anchor = node.lineno
        object.__setattr__(self, "_literals", literals)
        object.__setattr__(self, "_anchor", anchor)

    def line(self, *texts: str) -> int:
        """Return the line of the first of these literals that the file has, else of ``PROBLEM``.

        A literal counts if it is one of the texts, or (f-strings) the longest one that is a part
        of it.
        """
        for text in texts:
            if text in self._literals:
                return self._literals[text]
        for text in texts:
            parts = [p for p in self._literals if len(p) > 2 and p in text]
            if parts:
                return self._literals[max(parts, key=len)]
        return self._anchor

    def error(self, reason: str, *texts: str) -> UserError:
        """Return an error that points at the line where one of ``texts`` stands."""
        return UserError(f"{self.path}:{self.line(*texts)}: problem {self.problem}: {reason}")
