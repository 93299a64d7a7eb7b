"""The chosen suite: a frozen value with a JSON form."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


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
        A `Statistic` name.
    """

    input: str
    values: Mapping[str, Mapping[str, Any]]
    parameters: Mapping[str, Mapping[str, Any]]
    shape: Mapping[str, int]
    shape_recipe: str
    seed: int
    tolerance: float
    comparator: str


@dataclass(frozen=True)
class ProblemSuite:
    """Members of one problem, strongest first."""

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
    """A whole suite, with the matrix, oracle and command that it comes from."""

    matrix_id: str
    matrix_device: str
    oracle: str
    target: str | None
    budget: int
    command: str
    problems: tuple[ProblemSuite, ...]
