"""The target ``json``: the suite and the module that serves it, for a harness of one's own.

``hardened/`` gets the suite's own file, the recipe module as it is and `hardened_inputs.py`; ten
lines of a harness, in the README beside them, use all three. Values, parameters, shapes and
tolerances are carried; a member at other shapes needs the harness to say each tensor's shape,
since a suite names dimensions and not tensors' shapes.
"""

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from suiteopt.export.own_oracle import OwnOracleTarget
from suiteopt.export.package import package_files
from suiteopt.export.target import RenderedFile, template
from suiteopt.matrix.schema import Need
from suiteopt.suite import ProblemSuite, Suite


class JsonSuite(OwnOracleTarget):
    """A suite for any harness."""

    name: ClassVar[str] = "json"
    title: ClassVar[str] = "Any harness: the suite with a pure-torch module that serves it"
    home: ClassVar[str] = "hardened"
    trials: ClassVar[str] = "the harness iterates over the members"
    carried = frozenset({Need.VALUES, Need.PARAMETERS, Need.SHAPES, Need.NONFINITE})

    def recognise(self, repo: Path) -> None:
        """Any directory will do."""

    def hidden_path(self, problem: ProblemSuite) -> str:
        """All problems are in one file."""
        return f"{self.home}/suite.json"

    def problem_path(self, repo: Path, problem: ProblemSuite) -> str:
        """The harness has the problems, wherever."""
        return ""

    def render(
        self,
        suite: Suite,
        repo: Path,
        original: Callable[[str], bytes | None],
        preserved: Callable[[str], str],
    ) -> tuple[RenderedFile, ...]:
        """Return the package and its README."""
        readme = template("json_readme.md").read_bytes()
        return (
            *package_files(self.home, suite),
            RenderedFile(f"{self.home}/README.md", readme),
        )

    def loader(self) -> Path:
        """The script that loads the package as a harness does."""
        return template("json_loader.py")
