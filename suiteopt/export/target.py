"""What a target is: a benchmark whose checkout a suite can be exported into.

A target only renders files; reading the checkout's state, the transaction, the manifest, removal
and verification are the same for all (`exporter`, `verify`). A package adds one by an entry point
in the group ``suiteopt.targets`` that names a subclass of `Target`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from suiteopt.export.suitable import require_suitable
from suiteopt.matrix.schema import Statistic
from suiteopt.selection.constraints import Capabilities
from suiteopt.suite import ProblemSuite, Suite


def template(name: str) -> Path:
    """Return where a file of ``suiteopt/export/templates`` lies."""
    return Path(str(files("suiteopt.export") / "templates" / name))


@dataclass(frozen=True)
class RenderedFile:
    """A file that an export writes.

    Attributes
    ----------
    path : str
        Relative to the checkout, with forward slashes.
    content : bytes
    """

    path: str
    content: bytes


@dataclass(frozen=True)
class LoadJob:
    """One exported file, as the loader of `Target.loader` takes it.

    Attributes
    ----------
    problem : str
        Id in the matrix.
    hidden_file, problem_file : str
        Relative to the checkout: what the harness loads, and what it judges.
    inputs : tuple of str
        The members' ids, in the order served.
    details : mapping
        What else the target's loader has to know, in JSON's own types.
    """

    problem: str
    hidden_file: str
    problem_file: str
    inputs: tuple[str, ...]
    details: Mapping[str, Any] = field(default_factory=dict)


class Target(ABC):
    """A benchmark that a suite can be exported to.

    Attributes
    ----------
    name : str
        As ``--to`` and ``--target`` take it.
    title : str
        One line for ``suiteopt targets``.
    home : str
        Directory of the checkout under which everything new is written, manifest included.
    touches : tuple of str
        Patterns (as `PurePosixPath.match` takes them) of files outside of it that an export
        may change as well.
    dtypes : frozenset of str
        Dtypes that the target's members can have.
    trials : str
        How its check gets to the members, in a few words.
    memory : str
        How many members are in memory at a time, in a few words.
    draws : bool
        Whether the benchmark's own draw is the one that was measured, so that a suite's own
        draws and multiples of them can be served.
    capabilities : Capabilities
        What it can carry, for selection.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    home: ClassVar[str]
    touches: ClassVar[tuple[str, ...]] = ()
    dtypes: ClassVar[frozenset[str]] = frozenset({"float32"})
    trials: ClassVar[str] = ""
    memory: ClassVar[str] = "one member"
    draws: ClassVar[bool] = True

    @property
    @abstractmethod
    def capabilities(self) -> Capabilities:
        """What the target can carry."""

    @property
    @abstractmethod
    def comparator(self) -> Statistic | None:
        """The statistic that the harness's check amounts to; None: each member brings its own."""

    @property
    @abstractmethod
    def tolerance(self) -> float | None:
        """The tolerance at which the harness judges the members; None: each brings its own."""

    @property
    def options(self) -> Mapping[str, Any]:
        """The options in force, as the manifest records them."""
        return {}

    @abstractmethod
    def recognise(self, repo: Path) -> None:
        """Check that a directory is a checkout of this benchmark.

        Raises
        ------
        UserError
            If it is not; the sentence says what is missing.
        """

    @abstractmethod
    def hidden_path(self, problem: ProblemSuite) -> str:
        """Where the members of a problem go, relative to the checkout."""

    @abstractmethod
    def problem_path(self, repo: Path, problem: ProblemSuite) -> str:
        """Which file of the checkout defines a problem, relative to it.

        Raises
        ------
        UserError
            If the checkout has no such problem, or another one under that number.
        """

    @abstractmethod
    def render(
        self,
        suite: Suite,
        repo: Path,
        original: Callable[[str], bytes | None],
        preserved: Callable[[str], str],
    ) -> tuple[RenderedFile, ...]:
        """Return every file of an export, support files first.

        Parameters
        ----------
        suite : Suite
        repo : Path
        original : callable
            Path to the bytes that stood there before any export, or None.
        preserved : callable
            Path to the path at which the exporter keeps those bytes.
        """

    @abstractmethod
    def loader(self) -> Path:
        """Return the script that loads exported files as the harness does (see `verify`)."""

    def notes(self, suite: Suite) -> tuple[str, ...]:
        """Return what a user should know about exporting this suite here, as sentences."""
        return ()

    def restrict(self, suite: Suite, repo: Path) -> tuple[Suite, tuple[str, ...]]:
        """Leave out problems that the checkout does not have; say which, as sentences."""
        return suite, ()

    def owns(self, path: str) -> bool:
        """Whether an export to this target may write a path."""
        parts = PurePosixPath(path).parts
        home = PurePosixPath(self.home).parts
        if ".." in parts or PurePosixPath(path).is_absolute():
            return False
        return parts[: len(home)] == home or any(
            PurePosixPath(path).match(pattern) for pattern in self.touches
        )

    @property
    def manifest_path(self) -> str:
        """Where the manifest lies, relative to the checkout."""
        return f"{self.home}/suiteopt-manifest.json"

    @property
    def support(self) -> str:
        """Directory for what several files share and for kept originals; the export's own."""
        return f"{self.home}/suiteopt"

    def preserved_path(self, path: str) -> str:
        """Where the original of a replaced file is kept, relative to the checkout."""
        place = PurePosixPath(path)
        inside = place.relative_to(self.home) if place.is_relative_to(self.home) else place
        return f"{self.support}/originals/{inside}"

    def jobs(self, suite: Suite, repo: Path) -> tuple[LoadJob, ...]:
        """What there is to load of an exported suite."""
        return tuple(
            LoadJob(
                problem=problem.problem,
                hidden_file=self.hidden_path(problem),
                problem_file=self.problem_path(repo, problem),
                inputs=tuple(member.input for member in problem.members),
                details=self.job_details(problem, repo),
            )
            for problem in suite.problems
            if problem.members
        )

    def job_details(self, problem: ProblemSuite, repo: Path) -> Mapping[str, Any]:
        """What the loader has to know of a problem beside its files, in JSON's own types."""
        return {}

    def check(self, suite: Suite) -> None:
        """Refuse a suite that the target cannot carry.

        Raises
        ------
        UserError
            For another matrix format, target, oracle or dtype, too many members, a need that
            the target does not have, or no members at all.
        """
        require_suitable(suite, self)
