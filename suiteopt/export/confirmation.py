"""What became of a suite's promises when its members were measured again at other shapes."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from suiteopt.matrix.schema import ShapeScope


@dataclass(frozen=True)
class LostKill:
    """A promised kill that the new measurement does not show.

    Attributes
    ----------
    mutant : str
    critical : float or None
        The smallest tolerance that would still accept it, in units of the member's comparator;
        None where the run gave no number.
    assumed : bool
        The suite's matrix did not run it on this input either: it had ended in exceptions on two
        others, which was taken for a kill here.
    """

    mutant: str
    critical: float | None
    assumed: bool = False


@dataclass(frozen=True)
class MemberConfirmation:
    """One member: where it was measured again, and what that showed.

    Attributes
    ----------
    input : str
    shape : mapping of str to int
        Where it was measured again.
    full : bool
        Whether these are the benchmark's own dimensions, all of them.
    scope : ShapeScope
    reduction_ratio : float
        Reduction length there over the contract's.
    invalid : str
        Why nothing can be said on this input; empty where something can.
    comparator : str
    tolerance : float
        The suite's, in units of the comparator; measured at the suite's shape.
    needed : float
        What the controls ask for at the new shape: the safety times the worst of them, and at
        least the rounding-model floor. Infinite where one of them fails outright.
    worst_control : float
        The largest critical tolerance of the calibrating controls at the new shape; 0 without any.
    promised, confirmed : int
        Mutants that the member kills in the suite's matrix, and that it kills here, too.
    confirmed_at_needed : int
        Of the promised, those that it kills at the tolerance ``needed``.
    lost : tuple of LostKill
    not_run : tuple of str
        Promised mutants that have no verdict here: they crashed or timed out on another member, or
        in the suite's matrix on this one, and were left out.
    gained : int
        Mutants that survive the member in the suite's matrix and are killed here.
    controls_accepted : int
        Calibrating controls within the suite's tolerance.
    controls_rejected : tuple of str
    nulls_promised, nulls_confirmed : int
        Null mutants, reported apart.
    """

    input: str
    shape: Mapping[str, int]
    full: bool
    scope: ShapeScope
    reduction_ratio: float
    invalid: str
    comparator: str
    tolerance: float
    needed: float
    worst_control: float
    promised: int
    confirmed: int
    confirmed_at_needed: int
    lost: tuple[LostKill, ...]
    not_run: tuple[str, ...]
    gained: int
    controls_accepted: int
    controls_rejected: tuple[str, ...]
    nulls_promised: int
    nulls_confirmed: int

    @property
    def ok(self) -> bool:
        """Whether no kill was lost, no control rejected, and something was looked at."""
        looked = self.confirmed > 0 or self.promised == 0
        return looked and not (self.lost or self.controls_rejected or self.invalid)

    @property
    def where(self) -> str:
        """In a word or two, how its shape stands to the benchmark's own."""
        if self.scope is ShapeScope.OTHER:
            return "varied"
        if self.full:
            return "full"
        if self.scope is ShapeScope.CONTRACT:
            return "contract scope"
        return f"reduction x {self.reduction_ratio:.2g}"


@dataclass(frozen=True)
class ProblemConfirmation:
    """One problem.

    Attributes
    ----------
    problem : str
    members : tuple of MemberConfirmation
    detected_promised : int
        Mutants that at least one member kills in the suite's matrix.
    detected_confirmed : int
        Of those, the ones that at least one member which promised the kill still kills, or that
        crashed or timed out on another and so were not run on it.
    detected_not_run : int
        Of those, the ones that no member which promised the kill has a verdict of.
    """

    problem: str
    members: tuple[MemberConfirmation, ...]
    detected_promised: int
    detected_confirmed: int
    detected_not_run: int

    def total(self, count: Callable[[MemberConfirmation], int]) -> int:
        """Return a sum over the members."""
        return sum(map(count, self.members))

    @property
    def ok(self) -> bool:
        """Whether every member is."""
        return all(member.ok for member in self.members)


@dataclass(frozen=True)
class Confirmation:
    """A whole suite.

    Attributes
    ----------
    suite_hash, matrix_id, measured_id : str
        The suite, the matrix it was chosen on, and the one that was measured to confirm it.
    problems : tuple of ProblemConfirmation
    """

    suite_hash: str
    matrix_id: str
    measured_id: str
    problems: tuple[ProblemConfirmation, ...]

    @property
    def ok(self) -> bool:
        """Whether every promised kill that ran was confirmed and every control accepted."""
        return all(problem.ok for problem in self.problems)

    def total(self, count: Callable[[MemberConfirmation], int]) -> int:
        """Return a sum over all members of all problems."""
        return sum(problem.total(count) for problem in self.problems)

    def to_json(self) -> dict[str, Any]:
        """Return totals, and every member with what it lost."""
        return {
            "ok": self.ok,
            "suite_hash": self.suite_hash,
            "matrix_id": self.matrix_id,
            "measured_id": self.measured_id,
            "members": self.total(lambda m: 1),
            "full": self.total(lambda m: m.full),
            **{key: self.total(count) for key, count in TOTALS.items()},
            "detected_promised": sum(p.detected_promised for p in self.problems),
            "detected_confirmed": sum(p.detected_confirmed for p in self.problems),
            "detected_not_run": sum(p.detected_not_run for p in self.problems),
            "problems": [_problem_json(problem) for problem in self.problems],
        }


TOTALS: Mapping[str, Callable[[MemberConfirmation], int]] = {
    "promised": lambda m: m.promised,
    "confirmed": lambda m: m.confirmed,
    "not_confirmed": lambda m: len(m.lost),
    "never_run": lambda m: sum(lost.assumed for lost in m.lost),
    "not_run": lambda m: len(m.not_run),
    "confirmed_at_needed": lambda m: m.confirmed_at_needed,
    "gained": lambda m: m.gained,
    "controls_accepted": lambda m: m.controls_accepted,
    "controls_rejected": lambda m: len(m.controls_rejected),
    "nulls_promised": lambda m: m.nulls_promised,
    "nulls_confirmed": lambda m: m.nulls_confirmed,
}
"""What is counted over members, by its key in JSON; ``never_run`` are those of ``not_confirmed``
that the suite's matrix had not run either."""


def _problem_json(problem: ProblemConfirmation) -> dict[str, Any]:
    return {
        "problem": problem.problem,
        "ok": problem.ok,
        **{key: problem.total(count) for key, count in TOTALS.items()},
        "detected_promised": problem.detected_promised,
        "detected_confirmed": problem.detected_confirmed,
        "detected_not_run": problem.detected_not_run,
        "members": [_member_json(member) for member in problem.members],
    }


def _member_json(member: MemberConfirmation) -> dict[str, Any]:
    return {
        "input": member.input,
        "ok": member.ok,
        "shape": dict(member.shape),
        "full": member.full,
        "scope": str(member.scope),
        "reduction_ratio": member.reduction_ratio,
        "invalid": member.invalid,
        "comparator": member.comparator,
        "tolerance": member.tolerance,
        "needed": member.needed,
        "worst_control": member.worst_control,
        **{key: count(member) for key, count in TOTALS.items()},
        "not_confirmed_items": [asdict(lost) for lost in member.lost],
        "not_run_items": list(member.not_run),
        "controls_rejected_items": list(member.controls_rejected),
    }
