"""One budget for all problems: more inputs where they detect more."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from suiteopt.errors import UserError
from suiteopt.selection.constraints import Constraints
from suiteopt.selection.instance import Instance
from suiteopt.selection.limits import Limits
from suiteopt.selection.minimum import curve_of, sums, trace
from suiteopt.selection.result import Selection


@dataclass(frozen=True)
class Spending:
    """The best use of a total budget.

    Attributes
    ----------
    selections : tuple of Selection
        One a problem.
    bound : int
        No suites with as many inputs in all detect more.
    """

    selections: tuple[Selection, ...]
    bound: int


def spend(
    instances: Sequence[Instance],
    total: int,
    limit: int | None = None,
    solver: str = "auto",
    *,
    constraints: Sequence[Constraints] | None = None,
    limits: Limits | None = None,
) -> Spending:
    """Choose at most ``total`` inputs over all problems.

    The curve of each problem, detection against number of inputs, is solved until nothing more
    can be detected; dynamic programming over problems finds the best mixture, and over the curves
    of bounds it gives a bound. Both are equal, and the answer proved, where every curve is.
    Curves need not be concave.

    Parameters
    ----------
    instances : sequence of Instance
    total : int
    limit : int, optional
        The most inputs of one problem.
    solver, limits
        As `suiteopt.selection.solve.solve` takes them.
    constraints : sequence of Constraints, optional
        One a problem.

    Raises
    ------
    UserError
        If the total buys nothing, or does not pay for the inputs that must be included.
    """
    if total < 1:
        raise UserError(f"a total budget of {total} inputs chooses nothing; give at least 1")
    rules = constraints or [Constraints()] * len(instances)
    forced = [len(rule.include) for rule in rules]
    if sum(forced) > total:
        raise UserError(
            f"{sum(forced)} inputs must be included, but the total budget is {total}; raise it "
            "or include fewer"
        )
    most = total if limit is None else min(limit, total)
    curves = [
        curve_of(instance, most, solver, rule, limits)
        for instance, rule in zip(instances, rules, strict=True)
    ]
    found, choices = sums([[s.detected for s in curve] for curve in curves], forced)
    bounds, _ = sums([[s.bound for s in curve] for curve in curves], forced)
    best = int(np.argmax(found[: total + 1]))  # the smallest total that detects the most
    sizes = trace(choices, best)
    return Spending(
        tuple(curve[size] for curve, size in zip(curves, sizes, strict=True)),
        int(bounds[: total + 1].max()),
    )
