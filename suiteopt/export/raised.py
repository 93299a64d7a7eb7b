"""A suite with the tolerances that its members need at the shapes where they were confirmed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suiteopt.errors import UserError
from suiteopt.export.confirmation import Confirmation, MemberConfirmation
from suiteopt.export.member_table import member_table
from suiteopt.export.suite_oracle import member_oracle, own_tolerance, suite_oracle
from suiteopt.matrix.denominator import Denominator, denominator_mask
from suiteopt.matrix.kill import REFEREE_LIMIT, kill_table
from suiteopt.matrix.oracle import Oracle
from suiteopt.matrix.store import Matrix
from suiteopt.suite import Member, ProblemSuite, Suite


@dataclass(frozen=True)
class RaisedMember:
    """What became of a member.

    Attributes
    ----------
    input : str
    before : float
        Its tolerance in the suite.
    after : float or None
        Its tolerance now; None where it was left out, since a tolerance that accepts all controls
        says nothing (`suiteopt.matrix.kill.REFEREE_LIMIT`), or the input is invalid there.
    """

    input: str
    before: float
    after: float | None


@dataclass(frozen=True)
class RaisedSuite:
    """A suite whose tolerances hold where it was confirmed.

    Attributes
    ----------
    suite : Suite
    members : tuple of RaisedMember
        Those whose tolerance is another one now, and those that were left out.
    detected_before : int
        Mutants that the suite detects in its matrix, by its own count; ``suite`` has the new one.
    """

    suite: Suite
    members: tuple[RaisedMember, ...]
    detected_before: int

    def __str__(self) -> str:
        mutants = sum(problem.mutants for problem in self.suite.problems)
        gone = [member.input for member in self.members if member.after is None]
        lost = f", {len(gone)} members left out ({', '.join(gone)})" if gone else ""
        return (
            f"{len(self.members) - len(gone)} tolerances raised{lost}; at the shapes of its matrix "
            f"the suite detects {self.detected} of {mutants} faults, {self.detected_before} before"
        )

    @property
    def detected(self) -> int:
        """Mutants that the suite detects in its matrix at the tolerances it has now."""
        return sum(problem.detected for problem in self.suite.problems)

    def to_json(self) -> dict[str, Any]:
        """Return counts, and every member that changed."""
        return {
            "raised": sum(member.after is not None for member in self.members),
            "left_out": [member.input for member in self.members if member.after is None],
            "detected_before": self.detected_before,
            "detected": self.detected,
            "mutants": sum(problem.mutants for problem in self.suite.problems),
            "members": [
                {"input": member.input, "before": member.before, "after": member.after}
                for member in self.members
            ],
        }


def require_calibrated(suite: Suite) -> None:
    """Refuse a suite whose tolerances are not its own.

    Raises
    ------
    UserError
    """
    if not suite_oracle(suite).calibrated:
        raise UserError(
            f"the suite was chosen under {suite.oracle}, whose tolerance is the benchmark's and "
            "not one an input; only tolerances of a calibrated oracle can be raised"
        )


def raised(suite: Suite, matrix: Matrix, found: Confirmation, command: str) -> RaisedSuite:
    """Raise each tolerance to what a confirmation says is needed, where that is more.

    A calibrated tolerance is what correct kernels need at the shape of the matrix; a longer
    reduction, or other values at a larger shape, may need more.

    Parameters
    ----------
    suite : Suite
        Chosen under a calibrated oracle.
    matrix : Matrix
        The one that it was chosen on.
    found : Confirmation
        Of all its members.
    command : str
        The command line that confirms, noted after the one that chose.

    Raises
    ------
    UserError
        If the tolerances are not calibrated ones, or the mutants that count are not known.
    """
    require_calibrated(suite)
    oracle = suite_oracle(suite)
    counting = _denominator(suite, matrix, oracle)
    by_input = {member.input: member for problem in found.problems for member in problem.members}
    changed: list[RaisedMember] = []
    problems = []
    for problem in suite.problems:
        members = []
        for member in problem.members:
            after = _raised(member, by_input[member.input])
            if after is None or after.tolerance != member.tolerance:
                now = None if after is None else after.tolerance
                changed.append(RaisedMember(member.input, member.tolerance, now))
            if after is not None:
                members.append(after)
        detected = _detected(problem, members, matrix, oracle, counting)
        problems.append(replace(problem, members=tuple(members), detected=detected))
    made = replace(suite, problems=tuple(problems), command=f"{suite.command}; {command}")
    before = sum(problem.detected for problem in suite.problems)
    return RaisedSuite(made, tuple(changed), before)


def _raised(member: Member, found: MemberConfirmation) -> Member | None:
    tolerance = max(member.tolerance, found.needed)
    if found.invalid or tolerance > REFEREE_LIMIT:
        return None
    return replace(
        member,
        tolerance=tolerance,
        # What it says of is the tolerance, which now holds at that length.
        reduction_ratio=max(member.reduction_ratio, found.reduction_ratio),
    )


def _denominator(suite: Suite, matrix: Matrix, oracle: Oracle) -> Denominator:
    """Return over which mutants a suite counts: it says how many, and not which."""
    chosen = [problem for problem in suite.problems if problem.members]
    for which in Denominator:
        if all(_counting(p, matrix, oracle, which).sum() == p.mutants for p in chosen):
            return which
    raise UserError(
        "the suite counts other mutants than its matrix has; select it again with "
        "'suiteopt select -o'"
    )


def _counting(
    problem: ProblemSuite, matrix: Matrix, oracle: Oracle, which: Denominator
) -> NDArray[np.bool_]:
    own = member_oracle(oracle, problem.members[0])
    return denominator_mask(matrix, kill_table(matrix, problem.problem, own), which)


def _detected(
    problem: ProblemSuite,
    members: Sequence[Member],
    matrix: Matrix,
    oracle: Oracle,
    which: Denominator,
) -> int:
    """Return how many of the mutants that count are killed by some member at its tolerance."""
    if not members:
        return 0
    counting = _counting(problem, matrix, oracle, which)
    killed = np.zeros_like(counting)
    for member in members:
        own = own_tolerance(member_oracle(oracle, member), member)
        table = member_table(matrix, problem.problem, own, member.input)
        killed |= table.kills[:, [table.inputs.index(member.input)]].toarray()[:, 0]
    return int((killed & counting).sum())
