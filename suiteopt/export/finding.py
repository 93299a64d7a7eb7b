"""What verification found out about one promise of an export."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    """How a promise stands."""

    REPRODUCED = "reproduced"
    UNPROVED = "unproved"
    FAILED = "failed"


@dataclass(frozen=True)
class Finding:
    """One promise and how it stands.

    Attributes
    ----------
    verdict : Verdict
    check : str
        Which promise: file, load, count, delivery, generator, repeat, layout, reference, kills,
        controls, tolerance.
    problem : str
        Empty for what concerns the whole export.
    where : str
        A path, or the id of an input.
    what : str
        What was seen.
    """

    verdict: Verdict
    check: str
    problem: str
    where: str
    what: str

    @staticmethod
    def reproduced(check: str, problem: str, where: str, what: str = "") -> "Finding":
        """Return a promise that was kept."""
        return Finding(Verdict.REPRODUCED, check, problem, where, what)

    @staticmethod
    def unproved(check: str, problem: str, where: str, what: str) -> "Finding":
        """Return a promise that could not be tried, with the reason."""
        return Finding(Verdict.UNPROVED, check, problem, where, what)

    @staticmethod
    def failed(check: str, problem: str, where: str, what: str) -> "Finding":
        """Return a promise that was broken, with what was seen instead."""
        return Finding(Verdict.FAILED, check, problem, where, what)

    def __str__(self) -> str:
        place = ", ".join(part for part in (self.problem, self.where) if part)
        return f"{self.check}: {place}: {self.what}" if place else f"{self.check}: {self.what}"

    def to_json(self) -> dict[str, Any]:
        """Return the finding as JSON's own types."""
        return {
            "check": self.check,
            "problem": self.problem,
            "where": self.where,
            "what": self.what,
        }
