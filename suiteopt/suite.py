"""The chosen suite: a frozen value with a JSON form."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from suiteopt.matrix.schema import FORMAT_MAJOR, FORMAT_MINOR, Need

BENCHMARK_RECIPE = "benchmark"
"""The parameter recipe that leaves a benchmark's own initialisation as it is."""

CONTRACT_SHAPE = "contract"
"""The shape recipe that keeps the contract's shape (shrunk congruently where it was measured)."""

FULL_REDUCTION = 1.0
"""The reduction ratio of a member that was measured at the contract's own length."""


@dataclass(frozen=True)
class Member:
    """One chosen input of a problem.

    Attributes
    ----------
    input : str
        Its id in the matrix.
    values : mapping
        Value recipe by tensor: ``{tensor: {"name", "version", "arguments"}}``.
    parameters : mapping
        Parameter recipe by parameter, in the same form.
    shape : mapping of str to int
        Named dimensions at which it was measured.
    shape_recipe : str
        ``contract`` or the name of a variation.
    seed : int
    tolerance : float
        Tolerance in force, in units of the comparator.
    comparator : str
        A `Statistic` name, or a stored ratio such as ``allclose_candidate@0.1``.
    needs : tuple of str
        What a target must be able to carry, as the matrix says; see `required`.
    reduction_ratio : float
        Length of its reductions when it was measured, as a part of the contract's.
    """

    input: str
    values: Mapping[str, Mapping[str, Any]]
    parameters: Mapping[str, Mapping[str, Any]]
    shape: Mapping[str, int]
    shape_recipe: str
    seed: int
    tolerance: float
    comparator: str
    needs: tuple[str, ...] = ()
    reduction_ratio: float = FULL_REDUCTION

    @property
    def required(self) -> frozenset[Need]:
        """What a target must be able to carry: what the matrix says, and what the recipes say."""
        needs = {Need(need) for need in self.needs}
        if any(recipe.get("name") != BENCHMARK_RECIPE for recipe in self.parameters.values()):
            needs.add(Need.PARAMETERS)
        if self.shape_recipe != CONTRACT_SHAPE:
            needs.add(Need.SHAPES)
        return frozenset(needs)


@dataclass(frozen=True)
class ProblemSuite:
    """Members of one problem, strongest first.

    Attributes
    ----------
    problem, benchmark, level, name, dtype : str, str, int, str, str
        As in the matrix's table of problems.
    members : tuple of Member
    mutants, detected : int
        How many mutants count, and how many of them the members detect.
    """

    problem: str
    benchmark: str
    level: int
    name: str
    dtype: str
    members: tuple[Member, ...]
    mutants: int
    detected: int


@dataclass(frozen=True)
class Suite:
    """A whole suite, with the matrix, oracle and command that it comes from.

    Attributes
    ----------
    matrix_id, matrix_device : str
        Which matrix, and the device that it was measured on.
    oracle : str
        As `parse_oracle` takes it.
    target : str or None
        The target that the selection was solved for.
    budget : int
        Members per problem.
    command : str
        The command line that chose it.
    problems : tuple of ProblemSuite
    matrix_format : tuple of two int
        Major and minor version of that matrix's format.
    """

    matrix_id: str
    matrix_device: str
    oracle: str
    target: str | None
    budget: int
    command: str
    problems: tuple[ProblemSuite, ...]
    matrix_format: tuple[int, int] = (FORMAT_MAJOR, FORMAT_MINOR)

    @property
    def members(self) -> int:
        """Number of members over all problems."""
        return sum(len(problem.members) for problem in self.problems)

    def to_json(self) -> str:
        """Return the canonical text: the same bytes for equal suites, on every machine.

        Sorted keys, two spaces of indentation, UTF-8, infinity as null, one newline at the end.

        Raises
        ------
        ValueError
            If a tolerance is negative or NaN.
        """
        from suiteopt.suite_json import dump

        return dump(self)

    @staticmethod
    def from_json(text: str | bytes, source: str = "the suite") -> "Suite":
        """Read a suite from JSON text, checking every field.

        Parameters
        ----------
        text : str or bytes
        source : str
            What an error message calls the text, for example its path.

        Raises
        ------
        UserError
            If it is no suite, if a field is missing or of a wrong type, or if its major version
            is not this one's.
        """
        from suiteopt.suite_json import load

        return load(text, source)

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the canonical text, in hexadecimal; equal to that of a saved file."""
        return sha256(self.to_json().encode()).hexdigest()

    def save(self, path: Path) -> None:
        """Write the canonical text to a file, whole or not at all."""
        from suiteopt.matrix.files import write_atomic

        write_atomic(path, self.to_json().encode())

    @staticmethod
    def open(path: Path) -> "Suite":
        """Read a suite file.

        Raises
        ------
        UserError
            If there is no such file, or if it is no suite.
        """
        from suiteopt.suite_json import read

        return read(path)
