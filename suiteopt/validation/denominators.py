"""The same suites over every denominator, side by side: nobody has to guess which one was used.

Suites are always chosen on the headline's mutants, by its objective. A wider denominator scores
them on mutants that no choice ever sees; held out, folds are by site over the widest one, so that
no edit of an expression that was trained on is scored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suiteopt.matrix.denominator import Denominator
from suiteopt.matrix.store import Matrix
from suiteopt.selection.cases import Case, counted
from suiteopt.selection.sites import Site, sites_of
from suiteopt.validation.figures import share_of
from suiteopt.validation.refit import Refitter
from suiteopt.validation.splits import site_folds, site_groups
from suiteopt.validation.suites import InFolds, Plan


@dataclass(frozen=True)
class Wide:
    """Sums over all problems for one denominator; counts of mutants."""

    mutants: float = 0.0
    fitted: float = 0.0
    scored: float = 0.0
    held_out: float = 0.0
    own: float | None = 0.0
    first_own: float | None = 0.0

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "mutants": int(self.mutants),
            "fitted_share": share_of(self.fitted, self.mutants),
            "held_out_share": share_of(self.held_out, self.scored),
            "own_share": None if self.own is None else share_of(self.own, self.mutants),
            "first_own_share": (
                None if self.first_own is None else share_of(self.first_own, self.mutants)
            ),
        }

    def plus(self, other: "Wide") -> "Wide":
        """Add another problem."""
        return Wide(
            self.mutants + other.mutants,
            self.fitted + other.fitted,
            self.scored + other.scored,
            self.held_out + other.held_out,
            None if self.own is None or other.own is None else self.own + other.own,
            None
            if self.first_own is None or other.first_own is None
            else self.first_own + other.first_own,
        )


@dataclass(frozen=True, eq=False)
class ValidRows:
    """All valid mutants of one problem, with what a suite of the headline does to them.

    Attributes
    ----------
    kills : ndarray of bool, shape (v, n)
        Columns of the case's instance.
    given, own, first_own : ndarray of bool, shape (v,)
        Killed by given inputs, by the own draws, by the first of them; the latter two None where
        the matrix does not have them.
    headline : ndarray of intp
        Rows that the case's instance has, in its order.
    masks : mapping of Denominator to ndarray of bool, shape (v,)
    sites : tuple of tuple of Site
    """

    kills: NDArray[np.bool_]
    given: NDArray[np.bool_]
    own: NDArray[np.bool_] | None
    first_own: NDArray[np.bool_] | None
    headline: NDArray[np.intp]
    masks: Mapping[Denominator, NDArray[np.bool_]]
    sites: tuple[tuple[Site, ...], ...]


def valid_rows(matrix: Matrix, case: Case) -> ValidRows:
    """Cut all valid mutants of a problem out of its kill table."""
    table = case.table
    rows = np.flatnonzero(counted(matrix, table, Denominator.VALID))
    names = [table.implementations[row] for row in rows]
    place = {name: position for position, name in enumerate(names)}
    kills = table.kills.toarray()[rows]
    columns = {name: column for column, name in enumerate(table.inputs)}

    def killed_by(inputs: Sequence[str]) -> NDArray[np.bool_]:
        return np.asarray(kills[:, [columns[name] for name in inputs]].any(axis=1))

    return ValidRows(
        kills=kills[:, [columns[name] for name in case.instance.inputs]],
        given=killed_by(case.given),
        own=None if case.own_inputs is None else killed_by(case.own_inputs),
        first_own=None if case.own_inputs is None else killed_by(case.own_inputs[:1]),
        headline=np.array([place[name] for name in case.instance.mutants], dtype=np.intp),
        masks={which: counted(matrix, table, which)[rows] for which in Denominator},
        sites=_sites(matrix, case, names),
    )


def _sites(matrix: Matrix, case: Case, mutants: Sequence[str]) -> tuple[tuple[Site, ...], ...]:
    if tuple(mutants) == case.instance.mutants:
        return case.sites
    details = matrix.implementations_of(case.problem).set_index("implementation")
    return sites_of(matrix, case.problem, details.loc[list(mutants)])


@dataclass(frozen=True, eq=False)
class WideFolds:
    """Folds by site over all valid mutants.

    Attributes
    ----------
    parts : tuple of ValidRows
        One a problem.
    held : tuple of ndarray of bool, each shape (folds, v)
        What each fold holds out of the problem.
    repeats : int
    to_choose : Plan
        The suites that they need; chosen on the headline's mutants.
    """

    parts: tuple[ValidRows, ...]
    held: tuple[NDArray[np.bool_], ...]
    repeats: int
    to_choose: Plan


def wide_folds(
    matrix: Matrix, found: Sequence[Case], folds: int, repeats: int, seed: int
) -> WideFolds:
    """Hold out by site over all valid mutants of all problems."""
    parts = tuple(valid_rows(matrix, case) for case in found)
    plan = site_folds(site_groups([s for part in parts for s in part.sites]), folds, repeats, seed)
    ends = np.cumsum([len(part.sites) for part in parts])[:-1]
    held = tuple(np.split(plan.held, ends, axis=1))
    headline = [own[:, part.headline] for own, part in zip(held, parts, strict=True)]
    used = [
        np.asarray(~trained.all(axis=1) & own.any(axis=1))
        for trained, own in zip(headline, held, strict=True)
    ]
    chosen_on = Plan(np.concatenate(headline, axis=1), plan.repeats, used)
    return WideFolds(parts, held, plan.repeats, chosen_on)


def wide_denominators(
    found: Sequence[Case],
    refitters: Sequence[Refitter],
    members: Mapping[str, Sequence[str]],
    plan: WideFolds,
    chosen: InFolds | None = None,
) -> dict[Denominator, Wide]:
    """Score the fitted and the held-out suites on every denominator.

    Parameters
    ----------
    found : sequence of Case
    refitters : sequence of Refitter
        One a case.
    members : mapping of str to sequence of str
        The fitted suite of every problem.
    plan : WideFolds
    chosen : InFolds, optional
        The suites of the folds, where another objective than plain coverage chose them.
    """
    totals = {which: Wide() for which in Denominator}
    for place, (case, part, refitter) in enumerate(zip(found, plan.parts, refitters, strict=True)):
        held, used = plan.held[place], plan.to_choose.used[place]
        killed = np.zeros((int(used.sum()), len(part.sites)), dtype=np.bool_)
        if used.any():
            sets = None if chosen is None else chosen.sets[place]
            for row, suite in enumerate(refitter.suites(held[used][:, part.headline], sets)):
                killed[row] = part.given | part.kills[:, list(suite)].any(axis=1)
        columns = [case.instance.inputs.index(name) for name in members[case.problem]]
        fitted = part.given | part.kills[:, columns].any(axis=1)
        scored = held[used].sum(axis=0) / max(plan.repeats, 1)
        reached = (held[used] & killed).sum(axis=0) / max(plan.repeats, 1)
        for which, mask in part.masks.items():
            totals[which] = totals[which].plus(
                Wide(
                    float(mask.sum()),
                    float((mask & fitted).sum()),
                    float(scored[mask].sum()),
                    float(reached[mask].sum()),
                    None if part.own is None else float((mask & part.own).sum()),
                    None if part.first_own is None else float((mask & part.first_own).sum()),
                )
            )
    return totals
