"""Comparing a suite's promises with a matrix that was made by running kernels again."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from suiteopt.export.finding import Finding
from suiteopt.export.suite_oracle import is_raised, member_oracle, suite_oracle
from suiteopt.matrix.closed import skipped_cells
from suiteopt.matrix.kill import KillTable, kill_table
from suiteopt.matrix.one_input import input_table
from suiteopt.matrix.schema import ImplementationClass, Kind
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
    left open, and at its own tolerance where a confirmation raised it. A replay must reach the
    verdict of the suite's matrix on every mutant that had one, and reject no control on a member.
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
        skipped = skipped_cells(replay, problem.problem)
        instead = stand_ins(replay, problem.problem)
        for member in problem.members:
            own = member_oracle(oracle, member)
            if own.comparator not in tables:
                tables[own.comparator] = (
                    kill_table(matrix, problem.problem, own),
                    kill_table(replay, problem.problem, own, include_locked=True),
                )
            first, second = tables[own.comparator]
            both = member.input in first.inputs and member.input in second.inputs
            if both and is_raised(first, member):
                own = own.at(member.tolerance)
                first = input_table(matrix, problem.problem, own, member.input)
                second = input_table(
                    replay, problem.problem, own, member.input, include_locked=True
                )
            yield from _check_member(problem, member, first, second, instead, skipped)


def _check_member(
    problem: ProblemSuite,
    member: Member,
    first: KillTable,
    second: KillTable,
    instead: Mapping[str, str],
    skipped: frozenset[tuple[str, str]],
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
    result = compare(first, second, member.input, instead, skipped)
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
    rejected = rejected_controls(second, member.input)
    if rejected:
        yield Finding.failed(
            "controls",
            problem.problem,
            member.input,
            f"the replay rejects controls, which are correct: {_named(rejected)}",
        )


def compare(
    first: KillTable,
    second: KillTable,
    input_id: str,
    instead: Mapping[str, str],
    skipped: frozenset[tuple[str, str]] = frozenset(),
) -> Comparison:
    """Compare the verdicts on one input of all mutants that ran in the first matrix.

    Parameters
    ----------
    first, second : KillTable
        The second with locked mutants.
    input_id : str
    instead : mapping of str to str
        The `stand_ins` of the second.
    skipped : frozenset of (str, str)
        The `skipped_cells` of the second: no verdict.
    """
    one, other = verdicts(first, input_id), verdicts(second, input_id)
    ran = {name: instead.get(name, name) for name in one}
    found = {
        name: None if (each, input_id) in skipped else other.get(each) for name, each in ran.items()
    }
    shared = {name: verdict for name, verdict in one.items() if found[name] is not None}
    return Comparison(
        same=sum(verdict == found[name] for name, verdict in shared.items()),
        lost=tuple(name for name, kill in shared.items() if kill and not found[name]),
        gained=tuple(name for name, kill in shared.items() if not kill and found[name]),
        missing=tuple(name for name in one if found[name] is None),
    )


def stand_ins(matrix: Matrix, problem: str) -> dict[str, str]:
    """Return the mutant that ran, by each of its duplicates.

    A matrix of one site a rule may have run a mutant that a replay of all sites merges into
    another: the same machine code under the same plan, and so the same verdict.
    """
    table = matrix.implementations_of(problem)
    merged = table[table["class"] == str(ImplementationClass.DUPLICATE)]
    names = merged["implementation"].astype(str)
    return dict(zip(names, merged["duplicate_of"].astype(str), strict=True))


def verdicts(table: KillTable, input_id: str, kind: Kind = Kind.MUTANT) -> dict[str, bool]:
    """Return whether each implementation of a kind that ran on an input is killed there."""
    column = table.inputs.index(input_id)
    kills = table.kills[:, [column]].toarray()[:, 0]
    ran = table.ran[:, [column]].toarray()[:, 0]
    return {
        name: bool(kill)
        for name, each, kill, known in zip(
            table.implementations, table.kinds, kills, ran, strict=True
        )
        if known and each is kind
    }


def rejected_controls(table: KillTable, input_id: str) -> tuple[str, ...]:
    """Return the calibrating controls that are rejected on an input."""
    column = table.inputs.index(input_id)
    rows = np.flatnonzero(table.control_rejections[:, column] & table.calibrating)
    return tuple(table.controls[row] for row in rows)


def _named(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
