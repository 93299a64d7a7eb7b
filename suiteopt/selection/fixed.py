"""The best tolerance that a whole suite shares.

At a tolerance t an input can be chosen when no calibrating control exceeds t on it, and a mutant is
killed when it does exceed t. Lowering t kills more but loses inputs, and inputs are lost only where
t passes the worst control of one. Detection is therefore largest at one of these breakpoints, and
an outer loop over them is exact; where there are too many, an even sample of them is tried first
and then those around the best.
"""

from collections.abc import Sequence
from decimal import ROUND_CEILING, Decimal

import numpy as np
from numpy.typing import NDArray

from suiteopt.errors import UserError
from suiteopt.matrix.kill import kill_table, load_block
from suiteopt.matrix.oracle import Oracle, fixed
from suiteopt.matrix.store import Matrix
from suiteopt.selection.cases import case_instance, counted
from suiteopt.selection.question import Question
from suiteopt.selection.safety import calibrating_without, worst_controls
from suiteopt.selection.solve import solve

BEST_FIXED = "best-fixed"
TRIED = 24
"""Breakpoints that are tried in each of the two rounds."""


def breakpoints(
    matrix: Matrix, oracle: Oracle, without_kind: str | None = None
) -> NDArray[np.float64]:
    """Return the worst control of every candidate input of all problems, ascending.

    Parameters
    ----------
    matrix : Matrix
    oracle : Oracle
        Its comparator counts.
    without_kind : str, optional
        A kind of control that has no say.
    """
    found = [
        worst_controls(
            matrix,
            problem,
            oracle,
            load_block(matrix, problem, oracle),
            calibrating_without(matrix, problem, oracle, without_kind),
        )
        for problem in matrix.measured_problems
    ]
    values = np.concatenate(found) if found else np.zeros(0)
    return np.unique(values[np.isfinite(values)])


def best_fixed(
    matrix: Matrix,
    question: Question,
    budget: int,
    solver: str = "auto",
    without_kind: str | None = None,
) -> Oracle:
    """Return the fixed oracle under which the suites detect most.

    Of equal ones the largest tolerance, which leaves controls the most room.

    Parameters
    ----------
    matrix : Matrix
    question : Question
        Its tolerance does not count.
    budget : int
    solver : str
    without_kind : str, optional
        A kind of control that has no say, because it is going to be judged.

    Raises
    ------
    UserError
        If there is no control to go by.
    """
    points = breakpoints(matrix, question.oracle, without_kind)
    if not len(points):
        raise UserError(
            f"{BEST_FIXED} needs controls, and the matrix at {matrix.path} has none that ran; "
            "give --oracle fixed:<tolerance>"
        )
    tried: dict[int, int] = {}
    around = sample(len(points), TRIED)
    for _ in range(2):
        around = [place for place in around if place not in tried]
        values = detection_at(
            matrix, question, [float(points[p]) for p in around], budget, solver, without_kind
        )
        tried |= dict(zip(around, values, strict=True))
        best = max(tried, key=lambda place: (tried[place], place))
        below = max((p for p in tried if p < best), default=0)
        above = min((p for p in tried if p > best), default=len(points) - 1)
        around = [below + step for step in sample(above - below + 1, TRIED)]
    return fixed(written_up(float(points[max(tried, key=lambda place: (tried[place], place))])))


def written_up(tolerance: float) -> float:
    """Round up to the six digits that an oracle's name shows, so that the name says it all."""
    exact = Decimal(tolerance)
    if exact == 0:
        return 0.0
    return float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - 5), rounding=ROUND_CEILING))


def sample(count: int, most: int) -> list[int]:
    """Spread at most ``most`` positions evenly over ``count``, ends included."""
    return sorted({int(place) for place in np.linspace(0, count - 1, min(count, most)).round()})


def detection_at(
    matrix: Matrix,
    question: Question,
    tolerances: Sequence[float],
    budget: int,
    solver: str,
    without_kind: str | None = None,
) -> list[int]:
    """Weight that the best suites detect at each tolerance, over all problems."""
    totals = [0] * len(tolerances)
    for problem in matrix.measured_problems:
        block = load_block(matrix, problem, question.oracle)
        controls = calibrating_without(matrix, problem, question.oracle, without_kind)
        mutants: tuple[str, ...] | None = None
        for place, tolerance in enumerate(tolerances):
            asked = with_tolerance(question, tolerance)
            table = kill_table(
                matrix,
                problem,
                asked.oracle,
                controls=controls,
                include_locked=question.locked,
                block=block,
            )
            if mutants is None or not question.counts_alike:
                mask = counted(matrix, table, question.denominator)
                mutants = tuple(table.implementations[row] for row in np.flatnonzero(mask))
            instance = case_instance(matrix, table, mutants, asked)
            totals[place] += solve(instance, budget, solver).detected
    return totals


def with_tolerance(question: Question, tolerance: float) -> Question:
    """Return the question at another fixed tolerance."""
    return question.under(fixed(tolerance, question.oracle.comparator))
