"""What every foreign format comes down to: tests, mutants, and what is known of each pair."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from suiteopt.errors import UserError
from suiteopt.matrix.schema import ImplementationClass

CELLS_LIMIT = 10_000_000
"""Pairs of mutant and test that are held in memory at once, about 1 GB while they are written."""


class Outcome(IntEnum):
    """What is known of a mutant under a test."""

    UNKNOWN = 0  # not run, or not recorded
    PASSED = 1  # ran, and the test passed
    UNCOVERED = 2  # need not run: the test never executes the mutated place
    FAILED = 3  # an assertion failed
    TIMEOUT = 4
    CRASHED = 5


@dataclass(frozen=True)
class Place:
    """Where a mutant was made; lines and columns from 1, the end exclusive, offsets in bytes."""

    file: str
    line: int
    column: int = 1
    end_line: int = 0
    end_column: int = 1
    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class ForeignMutant:
    """One mutant of another tool.

    Attributes
    ----------
    name : str
        Unique in its kill map.
    rule : str
        The tool's mutator; empty where it is not told.
    place : Place or None
    before, after : str
        The edited text, where it is told.
    kind : ImplementationClass
        Valid, stillborn or equivalent.
    error : str
        Why it is stillborn.
    """

    name: str
    rule: str = ""
    place: Place | None = None
    before: str = ""
    after: str = ""
    kind: ImplementationClass = ImplementationClass.VALID
    error: str = ""


@dataclass(frozen=True, eq=False)
class KillMap:
    """A foreign kill matrix.

    Attributes
    ----------
    tool : str
    tests : tuple of str
        Unique ids.
    titles : tuple of str
        Their readable names, in the same order.
    mutants : tuple of ForeignMutant
    outcomes : ndarray of int8, mutants x tests
        Codes of `Outcome`.
    sources : mapping of str to str
        Text of the files that were mutated, by relative name.
    notes : tuple of str
        What the format could not say, or what was left out: one sentence each.
    gap : str
        The first reason why the matrix is incomplete; empty for a complete one.
    """

    tool: str
    tests: tuple[str, ...]
    titles: tuple[str, ...]
    mutants: tuple[ForeignMutant, ...]
    outcomes: NDArray[np.int8]
    sources: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    gap: str = ""

    def __post_init__(self) -> None:
        if self.outcomes.shape != (len(self.mutants), len(self.tests)):
            raise ValueError(f"outcomes have shape {self.outcomes.shape}")

    @property
    def unknown(self) -> int:
        """Pairs of a valid mutant and a test of which nothing is known."""
        valid = [mutant.kind == ImplementationClass.VALID for mutant in self.mutants]
        return int((self.outcomes[valid] == Outcome.UNKNOWN).sum())

    @property
    def killed(self) -> int:
        """Valid mutants that some test fails on."""
        valid = [mutant.kind == ImplementationClass.VALID for mutant in self.mutants]
        return int((self.outcomes[valid] >= Outcome.FAILED).any(axis=1).sum())


def empty_outcomes(mutants: int, tests: int, where: str) -> NDArray[np.int8]:
    """Return a table in which nothing is known.

    Raises
    ------
    UserError
        If there is nothing to choose from, or more than fits.
    """
    if not mutants or not tests:
        raise UserError(f"{where} has {mutants} mutants and {tests} tests; both are needed")
    if mutants * tests > CELLS_LIMIT:
        raise UserError(
            f"{where} has {mutants} mutants x {tests} tests, over the {CELLS_LIMIT:,} cells that "
            "an import takes; split it, or write Parquet files as docs/matrix-format.md says"
        )
    return np.zeros((mutants, tests), dtype=np.int8)


def check_unique(names: Sequence[str], what: str, where: str) -> None:
    """Refuse names that repeat or are empty.

    Raises
    ------
    UserError
    """
    seen: set[str] = set()
    for name in names:
        if not name or name in seen:
            fault = f"the {what} {name!r} twice" if name else f"a {what} without a name"
            raise UserError(f"{where} has {fault}; each needs a name of its own")
        seen.add(name)
