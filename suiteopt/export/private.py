"""Whether a suite under private seeds detects as much as under the published ones.

The inputs are others, so single verdicts may differ; what must hold is the share of mutants that
the members detect together, at the tolerances that were exported, and that no control is rejected.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from suiteopt.export.finding import Finding
from suiteopt.matrix.kill import kill_table
from suiteopt.matrix.oracle import parse_oracle
from suiteopt.matrix.schema import Kind
from suiteopt.matrix.store import Matrix
from suiteopt.suite import ProblemSuite, Suite

CONFIDENCE = 0.95


def check_private_seeds(suite: Suite, matrix: Matrix, replay: Matrix) -> Iterator[Finding]:
    """Yield one finding a problem, and one for each control that a member rejects.

    Parameters
    ----------
    suite : Suite
        With private seeds; its members have the ids of the published ones.
    matrix : Matrix
        Measured under the published seeds.
    replay : Matrix
        Of this suite.
    """
    for problem in suite.problems:
        if not problem.members:
            continue
        wanted = {member.input for member in problem.members}
        held = (
            set(replay.inputs_of(problem.problem)["input"])
            if problem.problem in replay.problem_ids
            else set()
        )
        if not wanted <= held:
            yield Finding.unproved(
                "kills", problem.problem, "", "the replay does not hold all of its members"
            )
            continue
        yield from _check_problem(problem, matrix, replay)


def _check_problem(problem: ProblemSuite, matrix: Matrix, replay: Matrix) -> Iterator[Finding]:
    before, _ = _detected(problem, matrix)
    after, rejected = _detected(problem, replay)
    shared = sorted(before.keys() & after.keys())
    if not shared:
        yield Finding.unproved("kills", problem.problem, "", "no mutant ran under both seeds")
        return
    first = sum(before[name] for name in shared)
    second = sum(after[name] for name in shared)
    low, high = interval(first, len(shared))
    what = (
        f"{second} of {len(shared)} mutants under private seeds, {first} under the published ones "
        f"(95% interval {100 * low:.1f} to {100 * high:.1f}%)"
    )
    made = Finding.reproduced if second / len(shared) >= low else Finding.failed
    yield made("kills", problem.problem, "", what)
    for name, controls in rejected.items():
        yield Finding.failed(
            "controls", problem.problem, name, f"rejects what is correct: {', '.join(controls)}"
        )


def interval(detected: int, total: int) -> tuple[float, float]:
    """Return Wilson's 95% interval of a share."""
    from scipy.stats import binomtest

    found = binomtest(detected, total).proportion_ci(CONFIDENCE, method="wilson")
    return float(found.low), float(found.high)


def _detected(
    problem: ProblemSuite, matrix: Matrix
) -> tuple[dict[str, bool], dict[str, tuple[str, ...]]]:
    """Return which mutants any member kills at its tolerance, and which controls one rejects."""
    kills: NDArray[np.bool_] | None = None
    ran: NDArray[np.bool_] | None = None
    names: tuple[str, ...] = ()
    rejected: dict[str, tuple[str, ...]] = {}
    for member in problem.members:
        oracle = parse_oracle(f"{member.comparator}:{member.tolerance!r}")
        table = kill_table(matrix, problem.problem, oracle)
        column = table.inputs.index(member.input)
        rows = table.rows(Kind.MUTANT)
        names = tuple(table.implementations[row] for row in rows)
        one = table.kills[rows][:, [column]].toarray()[:, 0]
        known = table.ran[rows][:, [column]].toarray()[:, 0]
        kills = one if kills is None else kills | one
        ran = known if ran is None else ran & known
        bad = np.flatnonzero(table.control_rejections[:, column] & table.calibrating)
        if bad.size:
            rejected[member.input] = tuple(table.controls[row] for row in bad)
    if kills is None or ran is None:
        return {}, {}
    verdicts = zip(names, kills, ran, strict=True)
    return {name: bool(kill) for name, kill, known in verdicts if known or kill}, rejected
