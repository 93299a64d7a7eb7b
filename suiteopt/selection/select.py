"""The choice over a whole matrix: what ``suiteopt select`` answers."""

import time
from collections.abc import Sequence

from suiteopt.errors import UserError
from suiteopt.matrix.denominator import Denominator
from suiteopt.matrix.oracle import Oracle
from suiteopt.matrix.store import Matrix
from suiteopt.selection.cases import Case, cases, split_constraints
from suiteopt.selection.constraints import Capabilities, Constraints, check_budget
from suiteopt.selection.limits import Limits
from suiteopt.selection.minimum import Minimum, minimum_each, minimum_overall, required_weight
from suiteopt.selection.question import Question, ask
from suiteopt.selection.report import MatrixSelection, describe
from suiteopt.selection.result import Selection
from suiteopt.selection.solve import parse_solver, solve


def select(
    matrix: Matrix,
    budget: int,
    oracle: Oracle | str | None = None,
    *,
    capabilities: Capabilities | None = None,
    target: str | None = None,
    solver: str = "auto",
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    detect: float | None = None,
    detect_overall: bool = False,
    denominator: Denominator = Denominator.WITNESSED,
    locked: bool = False,
    allow_incomplete: bool = False,
    limits: Limits | None = None,
) -> MatrixSelection:
    """Choose a suite for every problem of a matrix.

    Parameters
    ----------
    matrix : Matrix
    budget : int
        The most inputs of one problem.
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
    denominator : Denominator
    locked : bool
        Whether mutants of the rules set aside count.
    allow_incomplete : bool
    limits : Limits, optional

    Raises
    ------
    UserError
        For a budget, constraint, oracle or matrix that makes no answer possible.
    """
    started = time.perf_counter()
    check_budget(budget, capabilities)
    parse_solver(solver)
    question = ask(oracle, capabilities, denominator, locked, allow_incomplete)
    found = list(cases(matrix, question))
    if not found:
        raise UserError(f"the matrix at {matrix.path} has no measured problem to choose inputs for")
    if not any(case.instance.inputs for case in found):
        raise UserError(_nothing_choosable(question))
    rules = split_constraints(found, include, exclude)
    minimum: Minimum | None = None
    if detect is None:
        selections = tuple(
            solve(case.instance, budget, solver, constraints=rules[case.problem], limits=limits)
            for case in found
        )
    else:
        minimum = _fewest(found, rules, budget, detect, detect_overall, solver, limits)
        selections = minimum.selections
    return MatrixSelection(
        matrix_id=matrix.id,
        matrix_device=str(matrix.meta.device.get("name", "")),
        label=matrix.meta.label,
        budget=budget,
        oracle=question.oracle.name,
        comparator=question.oracle.comparator,
        target=target,
        denominator=denominator,
        locked=locked,
        solver=solver,
        required_share=detect,
        at_least=None if minimum is None else minimum.at_least,
        problems=tuple(
            describe(case, selection) for case, selection in zip(found, selections, strict=True)
        ),
        seconds=time.perf_counter() - started,
    )


def _fewest(
    found: Sequence[Case],
    rules: dict[str, Constraints],
    budget: int,
    detect: float,
    overall: bool,
    solver: str,
    limits: Limits | None,
) -> Minimum:
    instances = [case.instance for case in found]
    if overall:
        total = sum(instance.total for instance in instances)
        return minimum_overall(
            instances,
            required_weight(detect, total),
            budget,
            solver,
            constraints=[rules[case.problem] for case in found],
            limits=limits,
        )
    each = [
        minimum_each(
            instance,
            required_weight(detect, instance.total),
            budget,
            solver,
            constraints=rules[instance.problem],
            limits=limits,
        )
        for instance in instances
    ]
    chosen: tuple[Selection, ...] = tuple(part.selections[0] for part in each)
    return Minimum(chosen, sum(p.members for p in each), sum(p.at_least for p in each))


def _nothing_choosable(question: Question) -> str:
    reason = f"no input of the matrix can be chosen under the oracle {question.oracle.name}"
    if question.capabilities is not None:
        return f"{reason} for this target; choose another target or measure a wider pool"
    return f"{reason}: controls are rejected on all of them; use a wider tolerance or `calibrated`"
