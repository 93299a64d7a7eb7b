"""Comparing a suite's promises with a matrix that was made by running kernels again."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from suiteopt.export.finding import Finding
from suiteopt.export.suite_oracle import member_oracle, suite_oracle
from suiteopt.matrix.kill import KillTable, kill_table
from suiteopt.matrix.schema import Kind
from suiteopt.matrix.store import Matrix
from suiteopt.suite import Member, ProblemSuite, Suite

SHOWN = 5
"""How many differing mutants a finding names."""


@dataclass(frozen=True)
class Comparison:
    """Verdicts of one member, by the suite's matrix and by the replay.

    Attributes
    ----------
    same : int
        Mutants with the same verdict.
    lost, gained : tuple of str
        Killed by the matrix only, by the replay only.
    missing : tuple of str
        With a verdict in the matrix and not run in the replay.
    """

    same: int
    lost: tuple[str, ...]
    gained: tuple[str, ...]
    missing: tuple[str, ...]


def check_replay(suite: Suite, matrix: Matrix, replay: Matrix) -> Iterator[Finding]:
    """Yield one finding a member: its kills reproduced, different, or not run.

    Both matrices are judged by the suite's oracle, each member by its own comparator where that was
    left open. A replay must reach the verdict of the suite's
    matrix on every mutant that had one, and reject no control on a member.
    """
    oracle = suite_oracle(suite)
    for problem in suite.problems:
        if not problem.members:
            continue
        if problem.problem not in replay.problem_ids:
            for member in problem.members:
                yield Finding.unproved(
                    "kills", problem.problem, member.input, "the replay does not hold the problem"
                )
            continue
        tables: dict[str, tuple[KillTable, KillTable]] = {}
        for member in problem.members:
            own = member_oracle(oracle, member)
            if own.comparator not in tables:
                tables[own.comparator] = (
                    kill_table(matrix, problem.problem, own),
                    kill_table(replay, problem.problem, own),
                )
            yield from _check_member(problem, member, *tables[own.comparator])


def _check_member(
    problem: ProblemSuite, member: Member, first: KillTable, second: KillTable
) -> Iterator[Finding]:
    if member.input not in first.inputs:
        yield Finding.failed(
            "kills", problem.problem, member.input, "the suite's matrix has no such input"
        )
        return
    if member.input not in second.inputs:
        yield Finding.unproved(
            "kills", problem.problem, member.input, "the replay does not hold this input"
        )
        return
    result = compare(first, second, member.input)
    differing = (*result.lost, *result.gained)
    if differing:
        yield Finding.failed(
            "kills",
            problem.problem,
            member.input,
            f"{len(result.lost)} mutants are killed in the matrix and not in the replay, "
            f"{len(result.gained)} the other way: {_named(differing)}",
        )
    elif result.missing:
        yield Finding.unproved(
            "kills",
            problem.problem,
            member.input,
            f"the replay did not run {len(result.missing)} mutants: {_named(result.missing)}",
        )
    else:
        yield Finding.reproduced(
            "kills", problem.problem, member.input, f"{result.same} mutants judged alike"
        )
    rejected = _rejected_controls(second, member.input)
    if rejected:
        yield Finding.failed(
            "controls",
            problem.problem,
            member.input,
            f"the replay rejects controls, which are correct: {_named(rejected)}",
        )


def compare(first: KillTable, second: KillTable, input_id: str) -> Comparison:
    """Compare the verdicts on one input of all mutants that ran in the first matrix."""
    one, other = _verdicts(first, input_id), _verdicts(second, input_id)
    shared = {name: verdict for name, verdict in one.items() if name in other}
    return Comparison(
        same=sum(verdict == other[name] for name, verdict in shared.items()),
        lost=tuple(name for name, kill in shared.items() if kill and not other[name]),
        gained=tuple(name for name, kill in shared.items() if not kill and other[name]),
        missing=tuple(name for name in one if name not in other),
    )


def _verdicts(table: KillTable, input_id: str) -> dict[str, bool]:
    column = table.inputs.index(input_id)
    kills = table.kills[:, [column]].toarray()[:, 0]
    ran = table.ran[:, [column]].toarray()[:, 0]
    return {
        name: bool(kill)
        for name, kind, kill, known in zip(
            table.implementations, table.kinds, kills, ran, strict=True
        )
        if known and kind is Kind.MUTANT
    }


def _rejected_controls(table: KillTable, input_id: str) -> tuple[str, ...]:
    column = table.inputs.index(input_id)
    rows = np.flatnonzero(table.control_rejections[:, column] & table.calibrating)
    return tuple(table.controls[row] for row in rows)


def _named(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
