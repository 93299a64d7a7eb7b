"""What a target is: a benchmark whose checkout a suite can be exported into.

A target only renders files; reading the checkout's state, the transaction, the manifest, removal
and verification are the same for all (`exporter`, `verify`). A package adds one by an entry point
in the group ``suiteopt.targets`` that names a subclass of `Target`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from suiteopt.errors import UserError
from suiteopt.export.recipe_check import is_nonfinite, recipe_fault
from suiteopt.matrix.schema import FORMAT_MAJOR, Need, Statistic
from suiteopt.selection.constraints import Capabilities
from suiteopt.suite import Member, ProblemSuite, Suite


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
    """

    problem: str
    hidden_file: str
    problem_file: str
    inputs: tuple[str, ...]


class Target(ABC):
    """A benchmark that a suite can be exported to.

    Attributes
    ----------
    name : str
        As ``--to`` and ``--target`` take it.
    title : str
        One line for ``suiteopt targets``.
    home : str
        Directory of the checkout under which everything is written, manifest included.
    dtypes : frozenset of str
        Dtypes that the target's members can have.
    capabilities : Capabilities
        What it can carry, for selection.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    home: ClassVar[str]
    dtypes: ClassVar[frozenset[str]] = frozenset({"float32"})

    @property
    @abstractmethod
    def capabilities(self) -> Capabilities:
        """What the target can carry."""

    @property
    @abstractmethod
    def comparator(self) -> Statistic:
        """The statistic that the harness's check amounts to."""

    @property
    @abstractmethod
    def tolerance(self) -> float:
        """The tolerance at which the harness will judge the members."""

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
        inside = PurePosixPath(path).relative_to(self.home)
        return f"{self.support}/originals/{inside}"

    def jobs(self, suite: Suite, repo: Path) -> tuple[LoadJob, ...]:
        """What there is to load of an exported suite."""
        return tuple(
            LoadJob(
                problem=problem.problem,
                hidden_file=self.hidden_path(problem),
                problem_file=self.problem_path(repo, problem),
                inputs=tuple(member.input for member in problem.members),
            )
            for problem in suite.problems
            if problem.members
        )

    def check(self, suite: Suite) -> None:
        """Refuse a suite that the target cannot carry.

        Raises
        ------
        UserError
            For another matrix format, target, oracle or dtype, too many members, a need that
            the target does not have, or no members at all.
        """
        if suite.matrix_format[0] != FORMAT_MAJOR:
            raise UserError(
                f"the suite comes from a matrix of format {suite.matrix_format[0]}, and this "
                f"version of suiteopt knows format {FORMAT_MAJOR}; select again on such a matrix"
            )
        if suite.target not in (None, self.name):
            raise UserError(
                f"the suite was chosen for the target '{suite.target}'; "
                f"{self._select_again()} to export it to {self.name}"
            )
        if suite.members == 0:
            raise UserError("the suite has no members, so there is nothing to export")
        for problem in suite.problems:
            self._check_problem(problem)

    def _select_again(self) -> str:
        return f"run 'suiteopt select --target {self.name}' again"

    def _check_problem(self, problem: ProblemSuite) -> None:
        if problem.dtype not in self.dtypes:
            raise UserError(
                f"{problem.problem} was measured in {problem.dtype}, and {self.name} carries "
                f"{', '.join(sorted(self.dtypes))} only; a dtype that was not measured is not "
                "exported"
            )
        limit = self.capabilities.member_limit
        if limit is not None and len(problem.members) > limit:
            raise UserError(
                f"{problem.problem} has {len(problem.members)} members, and {self.name} holds at "
                f"most {limit}; {self._select_again()} with --budget {limit}"
            )
        for member in problem.members:
            self._check_member(problem, member)

    def _check_member(self, problem: ProblemSuite, member: Member) -> None:
        where = f"{problem.problem}, member {member.input}"
        for tensor, recipe in member.values.items():
            fault = recipe_fault(recipe)
            if fault:
                raise UserError(f"{where}, tensor {tensor}: {fault}; {self._select_again()}")
        required = set(member.required)
        if any(is_nonfinite(recipe) for recipe in member.values.values()):
            required.add(Need.NONFINITE)
        lacking = sorted(required - self.capabilities.needs)
        if lacking:
            raise UserError(
                f"{where} needs a target that carries {', '.join(lacking)}, and {self.name} does "
                f"not; {self._select_again()}"
            )
        if member.comparator != self.comparator or member.tolerance != self.tolerance:
            raise UserError(
                f"{where} was chosen for {member.comparator} at {member.tolerance:g}, and "
                f"{self.name} judges by {self.comparator} at {self.tolerance:g}; "
                f"{self._select_again()}"
            )
