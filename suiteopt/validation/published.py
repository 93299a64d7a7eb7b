"""The like-for-like comparison: conditions of the published suite, beside its own figures.

KernelBench-M (arXiv 2609.22220) chose two inputs a problem at atol = rtol = 1e-2 and reported
98.0% fitted and 94.8% held out on random folds over 188 problems. How many faults each family had
there is not known here; the number of rules a family in its list is, so the figures are given for
the faults as this matrix has them, and with families weighted by those rules.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from suiteopt.errors import UserError
from suiteopt.matrix.denominator import Denominator
from suiteopt.matrix.oracle import fixed
from suiteopt.matrix.store import Matrix
from suiteopt.selection.cases import Case, make_case
from suiteopt.selection.question import Question
from suiteopt.selection.solve import solve
from suiteopt.validation.figures import SplitFigures, share_of
from suiteopt.validation.refit import kills_of
from suiteopt.validation.splits import Folds, random_folds

TOLERANCE = 1e-2
BUDGET = 2
FITTED = 0.980
HELD_OUT = 0.948
RULES: Mapping[str, int] = {
    "arithmetic": 5,
    "boundary": 41,
    "indexing": 14,
    "precision": 30,
    "semantic": 23,
    "synchronization": 14,
}
"""Rules a family in the published list of 127."""

SplitPlan = Callable[[Folds, Sequence[Case], int], SplitFigures]
"""Cross-validates cases over the folds of one plan, at a budget."""


@dataclass(frozen=True)
class Published:
    """This matrix under the published conditions."""

    mutants: int
    fitted: float | None
    held_out: float | None
    fitted_by_family: Mapping[str, float | None]
    held_out_by_family: Mapping[str, float | None]

    def as_dict(self) -> dict[str, Any]:
        """JSON form; ``mix`` shares weight families by the published rules."""
        return {
            "tolerance": TOLERANCE,
            "budget": BUDGET,
            "mutants": self.mutants,
            "fitted_share": self.fitted,
            "held_out_share": self.held_out,
            "mix_fitted_share": mixed(self.fitted_by_family),
            "mix_held_out_share": mixed(self.held_out_by_family),
            "published_fitted_share": FITTED,
            "published_held_out_share": HELD_OUT,
        }


def mixed(by_family: Mapping[str, float | None]) -> float | None:
    """Mean over families, weighted by the published rules; families without faults are left out."""
    known = {name: share for name, share in by_family.items() if share is not None}
    weight = sum(RULES.get(name, 0) for name in known)
    return share_of(sum(RULES.get(name, 0) * share for name, share in known.items()), weight)


def published_conditions(
    matrix: Matrix,
    headline: Sequence[Case],
    denominator: Denominator,
    locked: bool,
    folds: int,
    repeats: int,
    seed: int,
    split: SplitPlan,
) -> Published | None:
    """Choose and cross-validate on random folds under the published conditions.

    Parameters
    ----------
    matrix : Matrix
    headline : sequence of Case
        The problems under the oracle in force.
    denominator, locked
        As asked.
    folds, repeats, seed : int
        Of the random split.
    split : callable

    Returns
    -------
    Published or None
        None where the matrix cannot answer that tolerance.
    """
    question = Question(fixed(TOLERANCE), None, denominator, locked)
    same = denominator != Denominator.WITNESSED_OR_KILLED  # which mutants count depends on kills
    try:
        found = [
            make_case(matrix, case.problem, question, like=case if same else None)
            for case in headline
        ]
    except UserError:
        return None
    families = [family for case in found for family in case.families]
    homes = [case.problem for case in found for _ in case.families]
    if len(families) < 2:
        return None
    plan = random_folds(list(zip(homes, families, strict=True)), folds, repeats, seed)
    figures = split(plan, found, BUDGET)
    fitted: dict[str, list[int]] = {}
    for case in found:
        columns = [
            case.instance.inputs.index(name) for name in solve(case.instance, BUDGET).members
        ]
        for family, dies in zip(case.families, kills_of(case.instance, columns), strict=True):
            pair = fitted.setdefault(family, [0, 0])
            pair[0] += 1
            pair[1] += int(dies)
    return Published(
        mutants=len(families),
        fitted=share_of(sum(pair[1] for pair in fitted.values()), len(families)),
        held_out=figures.held_out_share,
        fitted_by_family={name: share_of(pair[1], pair[0]) for name, pair in fitted.items()},
        held_out_by_family=figures.by_family,
    )
