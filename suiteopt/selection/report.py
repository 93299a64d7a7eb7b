"""What is said about a choice: shares, families, survivors, false rejections."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from suiteopt.matrix.denominator import Denominator
from suiteopt.selection.comparators import comparator_of, input_of
from suiteopt.selection.question import Objective
from suiteopt.selection.result import Proof, Selection
from suiteopt.selection.wishes import Wishes


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


@dataclass(frozen=True)
class MatrixSelection:
    """The choice over a matrix, with every figure of ``suiteopt select``."""

    matrix_id: str
    matrix_device: str
    label: str
    budget: int
    oracle: str
    comparator: str
    target: str | None
    denominator: Denominator
    locked: bool
    solver: str
    required_share: float | None
    at_least: int | None
    problems: tuple[ProblemSelection, ...]
    wishes: Wishes = field(default_factory=Wishes)
    bound: int | None = None
    objective: Objective = Objective.COVERAGE
    strength: float | None = None
    seconds: float = field(compare=False, default=0.0)

    @property
    def tally(self) -> Tally:
        """Mutants of all problems."""
        return sum((part.tally for part in self.problems), Tally(0, 0))

    @property
    def fitted_share(self) -> float | None:
        """Mean over mutants, the headline."""
        return self.tally.share

    @property
    def fitted_macro_share(self) -> float | None:
        """Mean over the problems that have mutants."""
        shares = [share for part in self.problems if (share := part.tally.share) is not None]
        return sum(shares) / len(shares) if shares else None

    @property
    def alone_share(self) -> float | None:
        """What the members detect without inputs that the harness runs anyway."""
        return Tally(self.tally.mutants, sum(p.selection.alone for p in self.problems)).share

    @property
    def distinct_share(self) -> float | None:
        """Mean over behaviours: mutants that behave equally weigh one."""
        return sum((part.distinct for part in self.problems), Tally(0, 0)).share

    @property
    def in_output(self) -> Tally:
        """Mutants that an exception or a wrong output witnesses."""
        return sum((part.in_output for part in self.problems), Tally(0, 0))

    @property
    def by_family(self) -> dict[str, Tally]:
        """Mutants by family, in alphabetical order."""
        families: dict[str, Tally] = {}
        for part in self.problems:
            for name, tally in part.by_family.items():
                families[name] = families.get(name, Tally(0, 0)) + tally
        return dict(sorted(families.items()))

    @property
    def members(self) -> int:
        """Chosen inputs of all problems."""
        return sum(len(part.selection.members) for part in self.problems)

    @property
    def false_rejections(self) -> int:
        """Control cells rejected on members."""
        return sum(part.false_rejections for part in self.problems)

    @property
    def status(self) -> Proof:
        """Proved where every problem is and, with a required share, the number of members too."""
        proved = all(part.selection.status == Proof.PROVED for part in self.problems)
        if self.at_least is not None:
            proved = self.at_least == self.members
        if self.bound is not None:
            proved = self.bound == self.tally.detected
        return Proof.PROVED if proved else Proof.FEASIBLE

    def as_dict(self) -> dict[str, Any]:
        """JSON form: the keys of ``suiteopt select``, except the path of the suite."""
        return {
            "budget": self.budget,
            "oracle": self.oracle,
            "target": self.target,
            "problems": len(self.problems),
            "mutants": self.tally.mutants,
            "fitted_share": self.fitted_share,
            "fitted_macro_share": self.fitted_macro_share,
            "alone_share": self.alone_share,
            "distinct_share": self.distinct_share,
            "in_output": {"mutants": self.in_output.mutants, "detected": self.in_output.detected},
            "in_output_share": self.in_output.share,
            "by_family": {
                name: {
                    "mutants": tally.mutants,
                    "detected": tally.detected,
                    "missed_share": tally.missed_share,
                }
                for name, tally in self.by_family.items()
            },
            "members": self.members,
            "at_least": self.at_least,
            "required_share": self.required_share,
            "required_of": self.wishes.scope if self.required_share is not None else None,
            "total_budget": self.wishes.total,
            "max_bytes": self.wishes.max_bytes,
            "max_ms": self.wishes.max_ms,
            "kills": self.wishes.times,
            "objective": str(self.objective),
            "strength": self.strength,
            "bound": (
                sum(part.selection.bound for part in self.problems)
                if self.bound is None
                else self.bound
            ),
            "bytes": sum(part.bytes for part in self.problems),
            "milliseconds": sum(part.milliseconds for part in self.problems),
            "false_rejections": self.false_rejections,
            "control_cells": sum(part.control_cells for part in self.problems),
            "status": str(self.status),
            "solver": self.solver,
            "denominator": str(self.denominator),
            "locked": self.locked,
            "label": self.label,
            "rows": [part.as_dict() for part in self.problems],
            "seconds": self.seconds,
        }
