"""What is said about the choice for one problem: shares, families, survivors, rejections."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from suiteopt.selection.comparators import comparator_of, input_of
from suiteopt.selection.result import Selection


@dataclass(frozen=True)
class Tally:
    """Mutants, and how many of them are detected."""

    mutants: int
    detected: int

    @property
    def share(self) -> float | None:
        """Detected of all; None where there are no mutants."""
        return self.detected / self.mutants if self.mutants else None

    @property
    def missed_share(self) -> float | None:
        """What is left; None where there are no mutants."""
        return (self.mutants - self.detected) / self.mutants if self.mutants else None

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(self.mutants + other.mutants, self.detected + other.detected)


@dataclass(frozen=True)
class ProblemSelection:
    """The choice for one problem and what it leaves.

    Attributes
    ----------
    selection : Selection
        Members, bound, proof.
    tolerances : tuple of float
        In force on each member.
    by_family : mapping of str to Tally
    distinct : Tally
        The same with mutants of equal behaviour counted once.
    in_output : Tally
        Those that an exception or a wrong output witnesses: what a check of outputs could see.
    survivors : tuple of str
        Mutants that count and are not detected.
    unkillable : int
        How many of them no choosable input detects either.
    nulls : Tally
        Implementations that do no work, and how many of them the members detect.
    surviving_nulls : tuple of str
    false_rejections, control_cells : int
        Cells of controls, blind ones included, on members: rejected, and all that ran.
    unknown_cells : int
        Cells that were not run and count as no kill.
    bytes : int
        Size of the members, as measured.
    milliseconds : float
        What a substrate takes on them, as measured.
    choosable : int
        Inputs that there were to choose from.
    comparator : str
        Of the oracle in force.
    """

    selection: Selection
    tolerances: tuple[float, ...]
    by_family: Mapping[str, Tally]
    distinct: Tally
    in_output: Tally
    survivors: tuple[str, ...]
    unkillable: int
    nulls: Tally
    surviving_nulls: tuple[str, ...]
    false_rejections: int
    control_cells: int
    unknown_cells: int
    bytes: int
    milliseconds: float
    choosable: int
    comparator: str

    @property
    def problem(self) -> str:
        """Its id."""
        return self.selection.problem

    @property
    def tally(self) -> Tally:
        """All mutants that count."""
        return Tally(self.selection.total, self.selection.detected)

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        chosen = self.selection
        return {
            "problem": self.problem,
            "mutants": chosen.total,
            "detected": chosen.detected,
            "fitted_share": self.tally.share,
            "alone_share": Tally(chosen.total, chosen.alone).share,
            "distinct_share": self.distinct.share,
            "in_output": {
                "mutants": self.in_output.mutants,
                "detected": self.in_output.detected,
            },
            "members": [
                {
                    "input": input_of(name),
                    "tolerance": tolerance,
                    "comparator": comparator_of(name, self.comparator),
                }
                for name, tolerance in zip(chosen.members, self.tolerances, strict=True)
            ],
            "bound": chosen.bound,
            "value": chosen.value,
            "value_bound": chosen.value_bound,
            "status": str(chosen.status),
            "secondary": str(chosen.secondary),
            "optima": chosen.optima,
            "solver": chosen.solver,
            "version": chosen.version,
            "twice": chosen.twice,
            "survivors": list(self.survivors),
            "unkillable": self.unkillable,
            "nulls": {
                "implementations": self.nulls.mutants,
                "detected": self.nulls.detected,
                "survivors": list(self.surviving_nulls),
            },
            "false_rejections": self.false_rejections,
            "control_cells": self.control_cells,
            "unknown_cells": self.unknown_cells,
            "bytes": self.bytes,
            "milliseconds": self.milliseconds,
            "choosable": self.choosable,
        }
