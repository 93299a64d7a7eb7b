"""Which objective chooses where none is asked for: held-out, wherever it can.

It does what a budget a problem asks and nothing else, and it learns from other problems' faults of
the same classes. Where more is asked, or there is nothing to learn from, plain coverage chooses.
"""

from collections.abc import Iterable, Sequence

from suiteopt.errors import UserError
from suiteopt.matrix.denominator import IMPORTED_DEVICE
from suiteopt.matrix.layout import layout_of
from suiteopt.matrix.oracle import Oracle
from suiteopt.matrix.pieces import is_large
from suiteopt.matrix.store import Matrix
from suiteopt.selection.bank import bank_cells
from suiteopt.selection.cases import Case, cases
from suiteopt.selection.fixed import BEST_FIXED
from suiteopt.selection.question import Objective, Question
from suiteopt.selection.robust_tables import classes, too_large
from suiteopt.selection.wishes import Wishes

SUITES = 60_000
"""Suites of one problem up to which they are tabled without being asked for: those of three inputs
out of seventy. A choice then takes seconds, a cross-validation some minutes at most."""


def more_is_asked(
    wishes: Wishes,
    named: Sequence[str] = (),
    solver: str = "auto",
    oracle: Oracle | str | None = None,
) -> str | None:
    """Say what is asked that plain coverage alone answers; None where it is a budget a problem.

    Parameters
    ----------
    wishes : Wishes
    named : sequence of str
        Inputs that must, or must not, be chosen.
    solver : str
    oracle : Oracle or str, optional
        As asked for.
    """
    if not wishes.plain:
        return "more is asked than a budget a problem"
    if named:
        return "inputs to be chosen or left out are named"
    if solver != "auto":
        return f"the solver {solver} is asked for"
    if oracle == BEST_FIXED:
        return f"the tolerance of {BEST_FIXED} is chosen by it"
    return None


def refuse_best_fixed(objective: Objective | None, oracle: Oracle | str | None) -> None:
    """Refuse the held-out objective at a tolerance that coverage chooses.

    Raises
    ------
    UserError
        If both are asked for.
    """
    if objective == Objective.HELD_OUT and oracle == BEST_FIXED:
        raise UserError(
            f"the tolerance of {BEST_FIXED} is chosen by coverage; leave --objective held-out out, "
            "or give another oracle"
        )


def nothing_to_learn_from(matrix: Matrix) -> str | None:
    """Say why a matrix is not for the held-out objective, before its cells are read."""
    if matrix.meta.device.get("name") == IMPORTED_DEVICE:
        return "another tool's matrix has no classes of faults"
    if len(matrix.measured_problems) < 2:
        return "there is no other problem to learn from"
    for problem in matrix.measured_problems:
        if is_large(layout_of(matrix, problem)):
            return f"{problem} is too large to table its suites"
    return None


def nothing_in_common(matrix: Matrix, found: Iterable[Case], budget: int) -> str | None:
    """Say why the cases of a matrix are not for the held-out objective; None where they are.

    Parameters
    ----------
    matrix : Matrix
    found : iterable of Case
        Read no further than the first one that settles it.
    budget : int
    """
    kinds: set[tuple[str, ...]] = set()
    homes = 0
    for case in found:
        suites = bank_cells(case.instance, budget) // max(1, len(case.instance.mutants))
        if suites > SUITES or too_large(case, budget):
            return f"{case.problem} has too many suites of up to {budget} inputs to table"
        if not str(matrix.problem(case.problem)["operation_class"] or ""):
            return f"the operation class of {case.problem} is not known"
        known = classes(case)
        if any(not rule or not kind for rule, kind in known):
            return f"the classes of some faults of {case.problem} are not known"
        kinds |= set(known)
        homes += bool(known)
    if homes < 2:
        return "there is no other problem to learn from"
    if len(kinds) < 2:
        return "all faults are of one class"
    return None


def settle_objective(
    matrix: Matrix, question: Question, budget: int, asked_more: str | None
) -> tuple[Objective, str | None, list[Case] | None]:
    """Choose the objective where none is asked for.

    Parameters
    ----------
    matrix : Matrix
    question : Question
    budget : int
    asked_more : str or None
        As `more_is_asked` says.

    Returns
    -------
    objective : Objective
    reason : str or None
        Why it is not the held-out one.
    found : list of Case or None
        All cases, where they were looked at.
    """
    reason = asked_more or nothing_to_learn_from(matrix)
    if reason is not None:
        return Objective.COVERAGE, reason, None
    found: list[Case] = []

    def kept() -> Iterable[Case]:
        for case in cases(matrix, question):
            found.append(case)
            yield case

    reason = nothing_in_common(matrix, kept(), budget)
    if reason is None:
        return Objective.HELD_OUT, None, found
    whole = len(found) == len(matrix.measured_problems)
    return Objective.COVERAGE, reason, found if whole else None
