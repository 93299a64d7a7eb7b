"""The choice over a whole matrix: what ``suiteopt select`` answers."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from suiteopt.errors import UserError
from suiteopt.matrix.denominator import Denominator
from suiteopt.matrix.oracle import Oracle
from suiteopt.matrix.store import Matrix
from suiteopt.selection.cases import Case, cases
from suiteopt.selection.constraints import Capabilities, Constraints, check_budget
from suiteopt.selection.default_objective import (
    more_is_asked,
    refuse_best_fixed,
    settle_objective,
)
from suiteopt.selection.describe import describe
from suiteopt.selection.limits import Limits
from suiteopt.selection.problem_report import ProblemSelection
from suiteopt.selection.question import Objective, Question
from suiteopt.selection.report import MatrixSelection
from suiteopt.selection.required import split_constraints
from suiteopt.selection.result import Selection
from suiteopt.selection.robust_choice import fit_robust
from suiteopt.selection.settle import settle
from suiteopt.selection.solve import LARGE_SOLVERS, parse_solver, solve
from suiteopt.selection.wishes import Wishes, grant
from suiteopt.threads import one_thread


@dataclass(frozen=True)
class _Job:
    """What every way of choosing needs."""

    matrix: Matrix
    question: Question
    budget: int | None
    solver: str
    wishes: Wishes
    limits: Limits | None
    rules: dict[str, Constraints] = field(default_factory=dict)

    def rule(self, problem: str) -> Constraints:
        return self.rules.get(problem, Constraints())


@one_thread
def select(
    matrix: Matrix,
    budget: int | None,
    oracle: Oracle | str | None = None,
    *,
    capabilities: Capabilities | None = None,
    target: str | None = None,
    solver: str = "auto",
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    detect: float | None = None,
    detect_overall: bool = False,
    wishes: Wishes | None = None,
    denominator: Denominator = Denominator.WITNESSED,
    locked: bool = False,
    allow_incomplete: bool = False,
    limits: Limits | None = None,
    objective: Objective | None = None,
) -> MatrixSelection:
    """Choose a suite for every problem of a matrix.

    One problem is in memory at a time, unless the question couples them.

    Parameters
    ----------
    matrix : Matrix
    budget : int or None
        The most inputs of one problem; None where a total budget, a limit of bytes or of time
        is what bounds the suite.
    oracle : Oracle or str, optional
        The target's own, or ``calibrated``, by default.
    capabilities : Capabilities, optional
        What the target can carry.
    target : str, optional
        Its name, for the record.
    solver : str
        As `suiteopt.selection.solve.solve` takes it.
    include, exclude : sequence of str
        Ids of inputs that must, and that must not, be chosen.
    detect : float, optional
        Choose the fewest inputs, within the budget, that detect this share.
    detect_overall : bool
        Whether that share is asked of all problems together, instead of each.
    wishes : Wishes, optional
        Everything that goes beyond a budget a problem; ``detect`` is a shorthand for two of them.
    denominator : Denominator
    locked : bool
        Whether mutants of the rules set aside count.
    allow_incomplete : bool
    limits : Limits, optional
    objective : Objective, optional
        The held-out one goes with a budget a problem alone. By default it is taken wherever it
        can: `suiteopt.selection.default_objective`.

    Raises
    ------
    UserError
        For a budget, constraint, oracle or matrix that makes no answer possible.
    """
    started = time.perf_counter()
    asked = wishes or Wishes(detect=detect, scope="overall" if detect_overall else "problem")
    if budget is None and not asked.bounded:
        raise UserError("nothing bounds the suite; give --budget, or a limit of all inputs")
    if budget is None and capabilities is not None:
        budget = capabilities.member_limit
    if budget is not None:
        check_budget(budget, capabilities)
    parse_solver(solver)
    refuse_best_fixed(objective, oracle)
    question = settle(
        matrix,
        oracle,
        budget or 2,
        capabilities,
        denominator,
        locked,
        allow_incomplete,
        solver,
    )
    rules = split_constraints(matrix, include, exclude)
    job = _Job(matrix, question, budget, solver, asked, limits, rules)
    strength = reason = bound = at_least = None
    found: list[Case] | None = None
    if objective is None:
        more = more_is_asked(asked, (*include, *exclude), solver, oracle)
        objective, reason, found = settle_objective(matrix, question, budget or 2, more)
    if objective == Objective.HELD_OUT:
        if not asked.plain or include or exclude or budget is None:
            raise UserError(
                "the objective held-out goes with a budget a problem alone; leave the other "
                "limits out, or use --objective coverage"
            )
        problems, strength = _robust(job, budget, found)
    elif asked.plain:
        problems = tuple(_one_by_one(job, found))
    else:
        problems, bound, at_least = _together(job)
    if not problems:
        raise UserError(f"the matrix at {matrix.path} has no measured problem to choose inputs for")
    if not any(part.choosable for part in problems):
        raise UserError(nothing_choosable(question))
    largest = max(len(part.selection.members) for part in problems)
    return MatrixSelection(
        matrix_id=matrix.id,
        matrix_device=str(matrix.meta.device.get("name", "")),
        label=matrix.meta.label,
        budget=largest if budget is None else budget,
        oracle=question.oracle.name,
        comparator=question.oracle.comparator,
        target=target,
        denominator=denominator,
        locked=locked,
        solver=solver,
        required_share=asked.detect,
        at_least=at_least,
        problems=problems,
        wishes=asked,
        bound=bound,
        objective=objective,
        objective_reason=reason,
        strength=strength,
        seconds=time.perf_counter() - started,
    )


def _one_by_one(job: _Job, found: Sequence[Case] | None = None) -> Iterator[ProblemSelection]:
    compressed = job.solver in LARGE_SOLVERS
    for case in found or cases(job.matrix, job.question, compressed=compressed):
        chosen = solve(
            case.instance,
            job.budget or 1,
            job.solver,
            constraints=job.rule(case.problem),
            limits=job.limits,
        )
        yield describe(job.matrix, case, chosen)


def _robust(
    job: _Job, budget: int, known: Sequence[Case] | None
) -> tuple[tuple[ProblemSelection, ...], float]:
    """Choices by the held-out objective, and its strength, cross-validated by site."""
    found = list(cases(job.matrix, job.question)) if known is None else known
    fitted = fit_robust(job.matrix, found, budget)
    return (
        tuple(
            describe(job.matrix, case, selection)
            for case, selection in zip(found, fitted.selections(job.solver), strict=True)
        ),
        fitted.strength,
    )


def _together(job: _Job) -> tuple[tuple[ProblemSelection, ...], int | None, int | None]:
    """Choices, a bound of the detection of all, and a bound of the number of inputs."""
    found: list[Case] = list(cases(job.matrix, job.question))
    if not any(case.instance.inputs for case in found):
        return tuple(describe(job.matrix, case, _nothing(case)) for case in found), None, None
    granted = grant(
        job.matrix,
        found,
        [job.rule(case.problem) for case in found],
        job.wishes,
        job.budget,
        job.solver,
        job.limits,
    )
    described = tuple(
        describe(job.matrix, case, selection, job.wishes.times)
        for case, selection in zip(found, granted.selections, strict=True)
    )
    return described, granted.bound, granted.at_least


def _nothing(case: Case) -> Selection:
    return solve(case.instance, 1)


def nothing_choosable(question: Question) -> str:
    """Say why no suite can be chosen."""
    reason = f"no input of the matrix can be chosen under the oracle {question.oracle.name}"
    if question.capabilities is not None:
        return f"{reason} for this target; choose another target or measure a wider pool"
    if question.oracle.calibrated:
        return (
            f"{reason}: their controls say no tolerance that judges anything; measure controls, or "
            "give --oracle fixed:<tolerance>"
        )
    return f"{reason}: controls are rejected on all of them; use a wider tolerance or `calibrated`"
