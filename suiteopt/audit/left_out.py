"""Problems on which a check cannot be judged: which they are, why, and how many faults that is."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from suiteopt.audit.checks import Check
from suiteopt.matrix.denominator import Denominator, denominator_mask
from suiteopt.matrix.kill import kill_table
from suiteopt.matrix.store import Matrix


@dataclass(frozen=True)
class LeftOut:
    """A measured problem on which a check cannot be judged.

    Attributes
    ----------
    mutants : int
        That would count there.
    reason : str
        Which input of the check its pool lacks.
    """

    mutants: int
    reason: str

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {"mutants": self.mutants, "reason": self.reason}


def left_out(matrix: Matrix, check: Check, denominator: Denominator) -> dict[str, LeftOut]:
    """Count the mutants of the problems that a check leaves out, in the order of the matrix."""
    return {
        problem: LeftOut(
            int(
                denominator_mask(
                    matrix, kill_table(matrix, problem, check.oracle), denominator
                ).sum()
            ),
            reason,
        )
        for problem, reason in check.left_out.items()
    }


def left_out_json(found: Mapping[str, LeftOut]) -> dict[str, Any]:
    """Return the JSON form of all of them, by problem."""
    return {problem: part.as_dict() for problem, part in found.items()}


def left_out_sentences(found: Mapping[str, LeftOut]) -> Iterator[str]:
    """Name the problems that are left out, one sentence a reason."""
    by_reason: dict[str, list[str]] = {}
    for problem, part in found.items():
        faults = "1 fault" if part.mutants == 1 else f"{part.mutants} faults"
        by_reason.setdefault(part.reason, []).append(f"{problem} ({faults})")
    for reason, problems in by_reason.items():
        yield f"left out {', '.join(problems)}: {reason}"


def of_problems(judged: int, found: Mapping[str, LeftOut]) -> str:
    """Say on how many problems a share rests; nothing where it is all of them."""
    return f"{judged} of {judged + len(found)} problems" if found else ""
