"""What is asked of a matrix: the oracle, the target, and which mutants count."""

from dataclasses import dataclass, replace
from enum import StrEnum

from suiteopt.errors import UserError
from suiteopt.matrix.denominator import Denominator
from suiteopt.matrix.oracle import Oracle
from suiteopt.protocols import load_oracle
from suiteopt.selection.constraints import Capabilities

DEFAULT_ORACLE = "calibrated"


class Objective(StrEnum):
    """What a suite is chosen by."""

    COVERAGE = "coverage"  # the faults that there are
    HELD_OUT = "held-out"  # faults of the kinds that there are: `suiteopt.selection.robust`


def chosen_by(objective: Objective, strength: float | None, reason: str | None) -> str:
    """Say which objective chose, how strongly, and why it is not the default one."""
    if objective == Objective.HELD_OUT:
        at = "" if strength is None else f", strength {strength:g}"
        return f"chosen by the held-out objective{at}"
    return "chosen by coverage" + (f": {reason}" if reason else "")


@dataclass(frozen=True)
class Question:
    """What is asked of a matrix.

    Attributes
    ----------
    oracle : Oracle
    capabilities : Capabilities or None
        Of the target that the suite is for.
    denominator : Denominator
        Which mutants count.
    locked : bool
        Whether mutants of the rules that were set aside count.
    incomplete : bool
        Whether an incomplete matrix is taken as it is; a cell that was not run is no kill.
    """

    oracle: Oracle
    capabilities: Capabilities | None = None
    denominator: Denominator = Denominator.WITNESSED
    locked: bool = False
    incomplete: bool = False

    def under(self, oracle: Oracle) -> "Question":
        """Return the same question by another oracle."""
        return replace(self, oracle=oracle)

    @property
    def counts_alike(self) -> bool:
        """Whether the same mutants count under every oracle."""
        return self.denominator != Denominator.WITNESSED_OR_KILLED


def ask(
    oracle: Oracle | str | None,
    capabilities: Capabilities | None = None,
    denominator: Denominator = Denominator.WITNESSED,
    locked: bool = False,
    incomplete: bool = False,
) -> Question:
    """Settle the oracle: the one asked for, the target's own, or `calibrated`.

    Raises
    ------
    UserError
        If the oracle is unknown, or not the one that the target's harness applies.
    """
    forced = capabilities.oracle if capabilities is not None else None
    asked = load_oracle(oracle) if isinstance(oracle, str) else oracle
    if forced is not None:
        theirs = load_oracle(forced)
        if asked is not None and asked != theirs:
            raise UserError(
                f"the target judges by its own oracle, {theirs.name}, not by {asked.name}; "
                "leave --oracle out or choose another target"
            )
        asked = theirs
    return Question(
        asked or load_oracle(DEFAULT_ORACLE), capabilities, denominator, locked, incomplete
    )
