"""A suite with the tolerances that its members need at the shapes where they were confirmed."""

import math
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
from suiteopt.matrix.oracle import CALIBRATED_COMPARATOR, Oracle
from suiteopt.matrix.schema import Statistic
from suiteopt.matrix.store import Matrix
from suiteopt.selection.comparators import ANY
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


def require_raisable(suite: Suite, matrix: Matrix) -> None:
    """Refuse what `raised` would refuse, before anything is measured for it.

    Raises
    ------
    UserError
        If the tolerances are not calibrated ones, or the mutants that count are not known.
    """
    _require_calibrated(suite)
    _denominator(suite, matrix, suite_oracle(suite))


def _require_calibrated(suite: Suite) -> None:
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
    _require_calibrated(suite)
    oracle = suite_oracle(suite)
    counting = _denominator(suite, matrix, oracle)
    chosen = [problem for problem in suite.problems if problem.members]
    times = _kills_asked(suite.budget, chosen, matrix, oracle, counting)
    by_input = {member.input: member for problem in found.problems for member in problem.members}
    changed: list[RaisedMember] = []
    problems = []
    for problem in suite.problems:
        members = []
        for member in problem.members:
            comparator = member_oracle(oracle, member).comparator
            after = _raised(member, by_input[member.input], comparator)
            if after is None or after.tolerance != member.tolerance:
                now = None if after is None else after.tolerance
                changed.append(RaisedMember(member.input, member.tolerance, now))
            if after is not None:
                members.append(after)
        detected = _detected(problem, members, matrix, oracle, counting, times)
        problems.append(replace(problem, members=tuple(members), detected=detected))
    made = replace(suite, problems=tuple(problems), command=f"{suite.command}; {command}")
    before = sum(problem.detected for problem in suite.problems)
    return RaisedSuite(made, tuple(changed), before)


def _raised(member: Member, found: MemberConfirmation, comparator: str) -> Member | None:
    tolerance = max(member.tolerance, found.needed)
    # `max_abs` knows no scale.
    limit = math.inf if comparator == Statistic.MAX_ABS else REFEREE_LIMIT
    if found.invalid or tolerance > limit or not math.isfinite(tolerance):
        return None
    return replace(
        member,
        tolerance=tolerance,
        # What it says of is the tolerance, which now holds at that length.
        reduction_ratio=max(member.reduction_ratio, found.reduction_ratio),
    )


@dataclass(frozen=True)
class _Counting:
    """Which mutants a suite counts, and whether those of locked rules are among them."""

    which: Denominator
    locked: bool

    def rows(self, problem: ProblemSuite, matrix: Matrix, oracle: Oracle) -> NDArray[np.bool_]:
        # Where the comparator was left open, kills of the default one are what counts.
        opened = oracle.comparator == ANY
        own = replace(oracle, comparator=str(CALIBRATED_COMPARATOR)) if opened else oracle
        table = kill_table(matrix, problem.problem, own, include_locked=self.locked)
        return denominator_mask(matrix, table, self.which)


def _denominator(suite: Suite, matrix: Matrix, oracle: Oracle) -> _Counting:
    """Return over which mutants a suite counts: it says how many, and not which."""
    chosen = [problem for problem in suite.problems if problem.members]
    for locked in (False, True):
        for which in Denominator:
            counting = _Counting(which, locked)
            if all(counting.rows(p, matrix, oracle).sum() == p.mutants for p in chosen):
                return counting
    raise UserError(
        "the suite counts other mutants than its matrix has; select it again with "
        "'suiteopt select -o'"
    )


def _kills_asked(
    most: int,
    chosen: Sequence[ProblemSuite],
    matrix: Matrix,
    oracle: Oracle,
    counting: _Counting,
) -> int:
    """Return how many members have to kill a mutant: the suite says how many are detected."""
    for times in range(1, most + 1):
        if all(
            _detected(problem, problem.members, matrix, oracle, counting, times) == problem.detected
            for problem in chosen
        ):
            return times
    return 1


def _detected(
    problem: ProblemSuite,
    members: Sequence[Member],
    matrix: Matrix,
    oracle: Oracle,
    counting: _Counting,
    times: int,
) -> int:
    """Return how many mutants that count are killed by as many members as it takes."""
    if not members:
        return 0
    rows = counting.rows(problem, matrix, oracle)
    kills = np.zeros(len(rows), dtype=np.int64)
    for member in members:
        own = own_tolerance(member_oracle(oracle, member), member)
        table = member_table(
            matrix, problem.problem, own, member.input, include_locked=counting.locked
        )
        kills += table.kills[:, [table.inputs.index(member.input)]].toarray()[:, 0]
    return int(((kills >= times) & rows).sum())
