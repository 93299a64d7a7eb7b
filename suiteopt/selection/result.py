"""What a solver returns, and what it may claim."""

from dataclasses import dataclass, field
from enum import StrEnum


class Proof(StrEnum):
    """What is known about the objective that was chosen by."""

    PROVED = "proved"  # the bound equals the value
    FEASIBLE = "feasible"  # a bound above the value is all there is


class Secondary(StrEnum):
    """How the objectives behind detection were settled."""

    EXACT = "exact"  # over all sets with the largest detection
    SEARCHED = "searched"  # by exchanges among the suites that were found


@dataclass(frozen=True)
class Certificate:
    """What an exact solver gave back.

    Attributes
    ----------
    columns : tuple of int or None
        Its solution; None where it found none.
    bound : int
        No set detects more than this.
    solver, version : str
    """

    columns: tuple[int, ...] | None
    bound: int
    solver: str
    version: str


@dataclass(frozen=True)
class Selection:
    """The chosen inputs of one problem.

    Attributes
    ----------
    problem : str
    members : tuple of str
        Strongest first.
    total : int
        Weight of all mutants.
    detected : int
        Weight that the members detect, given inputs included.
    alone : int
        Weight that the members detect without the given inputs.
    bound : int
        No choice within the budget detects more.
    twice, slack, cost : int
        Values of the objectives behind detection (`suiteopt.selection.objective.Score`).
    secondary : Secondary
    optima : int or None
        Number of largest sets within the budget that detect as much; None unless enumerated.
    solver, version : str
        What produced the bound.
    seconds : float
        Wall-clock time; not part of equality.
    value, value_bound : int or None
        Of another objective that the members were chosen by, and the most that any choice within
        the budget is worth by it, in parts of its scale; None where they were chosen by detection.
    """

    problem: str
    members: tuple[str, ...]
    total: int
    detected: int
    alone: int
    bound: int
    twice: int
    slack: int
    cost: int
    secondary: Secondary
    optima: int | None
    solver: str
    version: str
    seconds: float = field(compare=False, default=0.0)
    value: int | None = None
    value_bound: int | None = None

    def __post_init__(self) -> None:
        if not self.detected <= self.bound <= self.total:
            raise ValueError(
                f"{self.problem}: a bound of {self.bound} cannot stand between "
                f"{self.detected} detected and {self.total} in all"
            )
        if self.value is not None and (self.value_bound is None or self.value > self.value_bound):
            raise ValueError(
                f"{self.problem}: a value of {self.value} cannot be worth more than the bound of "
                f"{self.value_bound}"
            )

    @property
    def status(self) -> Proof:
        """Derived from value and bound, so that it cannot claim what they do not show."""
        by_detection = self.value is None
        proved = self.detected == self.bound if by_detection else self.value == self.value_bound
        return Proof.PROVED if proved else Proof.FEASIBLE

    @property
    def gap(self) -> int:
        """Weight between detection and its bound; 0 where proved by detection."""
        return self.bound - self.detected
