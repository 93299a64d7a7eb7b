"""What is said about a choice: shares, families, survivors, false rejections."""

from dataclasses import dataclass, field
from typing import Any

from suiteopt.matrix.denominator import Denominator
from suiteopt.selection.problem_report import ProblemSelection, Tally
from suiteopt.selection.question import Objective, chosen_by
from suiteopt.selection.result import Proof
from suiteopt.selection.wishes import Wishes


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
    objective_reason: str | None = None
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
    def chosen_by(self) -> str:
        """The objective, in words."""
        return chosen_by(self.objective, self.strength, self.objective_reason)

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
            "objective_reason": self.objective_reason,
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
