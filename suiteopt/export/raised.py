"""A suite with the tolerances that its members need at the shapes where they were confirmed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suiteopt.errors import UserError
from suiteopt.export.confirmation import Confirmation, MemberConfirmation
from suiteopt.export.suite_oracle import member_oracle, suite_oracle
from suiteopt.matrix.denominator import Denominator, denominator_mask
from suiteopt.matrix.kill import REFEREE_LIMIT, kill_table, load_block
from suiteopt.matrix.one_input import input_table
from suiteopt.matrix.oracle import CALIBRATED_COMPARATOR, Oracle
from suiteopt.matrix.schema import ShapeScope, Statistic
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.verdict import CellBlock
from suiteopt.selection.comparators import ANY
from suiteopt.suite import CONTRACT_SHAPE, Member, ProblemSuite, Suite


@dataclass(frozen=True)
class RaisedMember:
    """What became of a member.

    Attributes
    ----------
    input : str
    before : float
        Its tolerance in the suite.
    after : float or None
        Its tolerance now; None where it was left out.
    why : str
        Why it was left out; empty where it was not.
    """

    input: str
    before: float
    after: float | None
    why: str = ""


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
    confirmed, full : int
        Members of the benchmark's own shape that were confirmed, and those of them at its full
        dimensions.
    kept : int
        Other members, whose tolerance holds at the shape that they are run at.
    """

    suite: Suite
    members: tuple[RaisedMember, ...]
    detected_before: int
    confirmed: int
    full: int
    kept: int

    def __str__(self) -> str:
        mutants = sum(problem.mutants for problem in self.suite.problems)
        gone = [member for member in self.members if member.after is None]
        lost = "".join(f"; {member.input} is left out: {member.why}" for member in gone)
        return (
            f"{len(self.members) - len(gone)} tolerances raised of {self.confirmed} members of the "
            f"benchmark's own shape, {self.full} of which were measured at its full dimensions; "
            f"{self.kept} others kept theirs{lost}; at the shapes of its matrix the suite detects "
            f"{self.detected} of {mutants} faults, {self.detected_before} before"
        )

    @property
    def detected(self) -> int:
        """Mutants that the suite detects in its matrix at the tolerances it has now."""
        return sum(problem.detected for problem in self.suite.problems)

    def to_json(self) -> dict[str, Any]:
        """Return counts, and every member that changed."""
        return {
            "confirmed": self.confirmed,
            "full": self.full,
            "kept": self.kept,
            "raised": sum(member.after is not None for member in self.members),
            "left_out": {
                member.input: member.why for member in self.members if member.after is None
            },
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
    _counting(suite, matrix, _calibrated(suite))


def raised(suite: Suite, matrix: Matrix, found: Confirmation, command: str) -> RaisedSuite:
    """Raise each tolerance to what a confirmation says is needed, where that is more.

    A calibrated tolerance is what correct kernels need at the shape of the matrix; a longer
    reduction, or other values at a larger shape, may need more. Only members of the contract's
    shape are run at the benchmark's own; a varied one is run at the shape that it has in the suite,
    where its tolerance was measured.

    Parameters
    ----------
    suite : Suite
        Chosen under a calibrated oracle.
    matrix : Matrix
        The one that it was chosen on.
    found : Confirmation
        Of all its problems, or of some: the others stay as they are.
    command : str
        The command line that confirms, noted after the one that chose.

    Raises
    ------
    UserError
        If the tolerances are not calibrated ones, or the mutants that count are not known.
    """
    oracle = _calibrated(suite)
    counting = _counting(suite, matrix, oracle)
    confirmed = {
        member.input: member
        for problem in found.problems
        for member in problem.members
        if member.scope is not ShapeScope.OTHER
    }
    looked: list[MemberConfirmation] = []
    changed: list[RaisedMember] = []
    problems = []
    for problem in suite.problems:
        members = []
        for member in problem.members:
            here = confirmed.get(member.input)
            if member.shape_recipe != CONTRACT_SHAPE or here is None:
                members.append(member)
                continue
            looked.append(here)
            why = _nothing_left(here)
            after = _raised(member, here)
            if why or after.tolerance != member.tolerance:
                now = None if why else after.tolerance
                changed.append(RaisedMember(member.input, member.tolerance, now, why))
            if not why:
                members.append(after)
        if members:
            kept = replace(problem, members=tuple(members))
            problems.append(_counted(kept, matrix, oracle, counting))
    made = replace(suite, problems=tuple(problems), command=f"{suite.command}; {command}")
    return RaisedSuite(
        suite=made,
        members=tuple(changed),
        detected_before=sum(problem.detected for problem in suite.problems),
        confirmed=len(looked),
        full=sum(member.full for member in looked),
        kept=suite.members - len(looked),
    )


def _calibrated(suite: Suite) -> Oracle:
    oracle = suite_oracle(suite)
    if not oracle.calibrated:
        raise UserError(
            f"the suite was chosen under {suite.oracle}, whose tolerance is the benchmark's and "
            "not one an input; only tolerances of a calibrated oracle can be raised"
        )
    return oracle


def _nothing_left(found: MemberConfirmation) -> str:
    """Say why a member cannot stay; empty where it can."""
    if found.invalid:
        return f"nothing can be said there ({found.invalid})"
    tolerance = max(found.tolerance, found.needed)
    # The largest absolute difference has no scale.
    limit = math.inf if found.comparator == Statistic.MAX_ABS else REFEREE_LIMIT
    if tolerance > limit or not math.isfinite(tolerance):
        return (
            f"correct kernels need {found.needed:.3g} there, beyond {REFEREE_LIMIT:g} of the "
            "output's scale"
        )
    return ""


def _raised(member: Member, found: MemberConfirmation) -> Member:
    return replace(
        member,
        tolerance=max(member.tolerance, found.needed),
        # What it says of is the tolerance, which now holds at that length.
        reduction_ratio=max(member.reduction_ratio, found.reduction_ratio),
    )


@dataclass(frozen=True)
class _Counting:
    """How a suite counts: which mutants, with those of locked rules, killed by how many members."""

    which: Denominator
    locked: bool
    times: int = 1

    def rows(self, problem: ProblemSuite, matrix: Matrix, oracle: Oracle) -> NDArray[np.bool_]:
        """Return which rows of the problem's kill table count."""
        # Where the comparator was left open, kills by the default one are what counts.
        opened = oracle.comparator == ANY
        own = replace(oracle, comparator=str(CALIBRATED_COMPARATOR)) if opened else oracle
        table = kill_table(matrix, problem.problem, own, include_locked=self.locked)
        return denominator_mask(matrix, table, self.which)

    def kills(
        self, problem: ProblemSuite, matrix: Matrix, oracle: Oracle
    ) -> list[NDArray[np.bool_]]:
        """Return which rows that count each member kills at its tolerance."""
        rows = self.rows(problem, matrix, oracle)
        blocks: dict[str, CellBlock] = {}
        found = []
        for member in problem.members:
            own = member_oracle(oracle, member).at(member.tolerance)
            if own.comparator not in blocks:
                blocks[own.comparator] = load_block(matrix, problem.problem, own)
            table = input_table(
                matrix,
                problem.problem,
                own,
                member.input,
                include_locked=self.locked,
                block=blocks[own.comparator],
            )
            column = table.kills[:, [table.inputs.index(member.input)]].toarray()[:, 0]
            found.append(np.asarray(column & rows, dtype=np.bool_))
        return found

    def detected(self, kills: Sequence[NDArray[np.bool_]]) -> int:
        """Return how many mutants enough members kill."""
        return int((np.sum(kills, axis=0, dtype=np.int64) >= self.times).sum())


def _counting(suite: Suite, matrix: Matrix, oracle: Oracle) -> _Counting:
    """Return how a suite counts: it says how many, and not which."""
    # Asked before anything is measured, and again afterwards.
    return matrix.remember(
        f"counting of {suite.hash}", lambda: _found_counting(suite, matrix, oracle)
    )


def _found_counting(suite: Suite, matrix: Matrix, oracle: Oracle) -> _Counting:
    chosen = [problem for problem in suite.problems if problem.members]
    for locked in (False, True):
        for which in Denominator:
            found = _Counting(which, locked)
            if all(found.rows(p, matrix, oracle).sum() == p.mutants for p in chosen):
                return _kills_asked(suite, chosen, matrix, oracle, found)
    raise UserError(
        "the suite counts other mutants than its matrix has; select it again with "
        "'suiteopt select -o'"
    )


def _kills_asked(
    suite: Suite,
    chosen: Sequence[ProblemSuite],
    matrix: Matrix,
    oracle: Oracle,
    counting: _Counting,
) -> _Counting:
    """Find out how many members have to kill a mutant: the suite says how many are detected."""
    kills = [(problem, counting.kills(problem, matrix, oracle)) for problem in chosen]
    for times in range(1, suite.budget + 1):
        found = replace(counting, times=times)
        if all(found.detected(each) == problem.detected for problem, each in kills):
            return found
    return counting


def _counted(
    problem: ProblemSuite, matrix: Matrix, oracle: Oracle, counting: _Counting
) -> ProblemSuite:
    """Count what the members detect at their tolerances, and put the strongest first."""
    kills = counting.kills(problem, matrix, oracle)
    rest = list(range(len(kills)))
    order, seen = [], np.zeros_like(kills[0])
    while rest:
        best = max(rest, key=lambda place: int((kills[place] & ~seen).sum()))
        seen |= kills[best]
        order.append(best)
        rest.remove(best)
    members = tuple(problem.members[place] for place in order)
    return replace(problem, members=members, detected=counting.detected(kills))
