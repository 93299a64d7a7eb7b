"""What was found out about a candidate, configuration by configuration."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Status(StrEnum):
    """What came of one configuration."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"  # outputs that differ by more than the tolerance, or in form
    RAISED = "raised"
    DIED = "died"
    TIMEOUT = "timeout"
    NOT_LOADED = "not_loaded"
    CLOSED = "closed"  # not run: the candidate was fatal on two configurations
    PARAMETERS = "parameters"  # the candidate's parameters are not the reference's
    NEEDS_GPU = "needs_gpu"  # it failed where torch sees no GPU, and its text speaks of one
    CANNOT = "cannot"  # says nothing of any candidate: the reference fails, too large, other shape


class Verdict(StrEnum):
    """Of a candidate: accepted, rejected, or neither could be said."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    UNJUDGED = "unjudged"


_SILENT = frozenset({Status.PARAMETERS, Status.NEEDS_GPU, Status.CANNOT})


@dataclass(frozen=True)
class Outcome:
    """One configuration's result.

    Attributes
    ----------
    name : str
        The member's id, or which own draw.
    status : Status
    comparator : str
    tolerance : float
        In force, in units of the comparator.
    critical : float or None
        The smallest tolerance at which it would be accepted; None where there is none.
    why : str
        Why it was not accepted.
    """

    name: str
    status: Status
    comparator: str
    tolerance: float
    critical: float | None = None
    why: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it in JSON's own types."""
        return {
            "input": self.name,
            "status": str(self.status),
            "comparator": self.comparator,
            "tolerance": self.tolerance,
            "critical": self.critical,
            "why": self.why,
        }


@dataclass(frozen=True)
class CandidateReport:
    """A candidate judged by its benchmark's own draws and by the suite's members.

    Attributes
    ----------
    candidate, problem : str
        Path as given, and id of the problem.
    own, members : tuple of Outcome
    """

    candidate: str
    problem: str
    own: tuple[Outcome, ...]
    members: tuple[Outcome, ...]

    @property
    def own_verdict(self) -> Verdict:
        """What the benchmark's own check says."""
        return verdict_of(self.own)

    @property
    def suite_verdict(self) -> Verdict:
        """What the members say."""
        return verdict_of(self.members)

    @property
    def verdict(self) -> Verdict:
        """Accepted by both, or rejected by one; members decide where the own check cannot run."""
        own, suite = self.own_verdict, self.suite_verdict
        if Verdict.REJECTED in (own, suite):
            return Verdict.REJECTED
        if all(outcome.status is Status.CANNOT for outcome in self.own):
            return suite
        return Verdict.ACCEPTED if own == suite == Verdict.ACCEPTED else Verdict.UNJUDGED

    @property
    def why(self) -> str:
        """Return what the first configuration says that did not accept."""
        outcomes = [o for o in (*self.own, *self.members) if o.status is not Status.ACCEPTED]
        outcomes.sort(key=lambda outcome: outcome.status in _SILENT)
        return f"{outcomes[0].name}: {outcomes[0].why}" if outcomes else ""

    def to_json(self) -> dict[str, Any]:
        """Return it in JSON's own types."""
        return {
            "candidate": self.candidate,
            "problem": self.problem,
            "verdict": str(self.verdict),
            "own": {
                "verdict": str(self.own_verdict),
                "draws": [outcome.to_json() for outcome in self.own],
            },
            "suite": {
                "verdict": str(self.suite_verdict),
                "members": [outcome.to_json() for outcome in self.members],
            },
        }


def verdict_of(outcomes: Sequence[Outcome]) -> Verdict:
    """Return what configurations say together.

    One that rejects is enough. A candidate whose parameters could not be set, or that needs a
    GPU, is not judged. Configurations that say nothing of any candidate do not count, but where
    there are no others nothing was judged.
    """
    statuses = {outcome.status for outcome in outcomes} - {Status.CANNOT}
    if statuses - _SILENT - {Status.ACCEPTED}:
        return Verdict.REJECTED
    return Verdict.ACCEPTED if statuses == {Status.ACCEPTED} else Verdict.UNJUDGED
