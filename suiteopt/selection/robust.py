"""Suites chosen for faults of the kinds that there are, instead of the faults that there are.

The objective is (1 - s) x coverage + s x sum over classes c of pi_c x P(S kills a fault of c). A
class is a rule at a kind of site, in problems of one operation class. P is estimated from joint
kill vectors, so that two inputs which kill the same faults are not counted as independent:

- the class's own mutants of the problem count one each;
- shrinkage adds `KAPPA` mutants' worth of the class's mutants in *other* problems, read through
  the recipes that both pools have: those of the same operation class one each, all others
  together `KAPPA`;
- pi_c is the class's share of the problem's mutants, shrunk with the weight `ALPHA` of them
  towards its share of the other problems' mutants, so that classes never seen here count too.

Each of these is a mixture of what single mutants do, so the objective is a weighted coverage over
the problem's own mutants and those of the others, and the same tables maximise it exactly. Ties
fall as in plain coverage. Nothing held out has a weight.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from suiteopt.errors import UserError
from suiteopt.matrix.store import Matrix
from suiteopt.selection.bank import (
    BANK_CELLS,
    Bank,
    bank_cells,
    break_ties,
    make_bank,
    product,
)
from suiteopt.selection.cases import Case
from suiteopt.selection.comparators import comparator_of, input_rows
from suiteopt.selection.instance import Instance

KAPPA = 2.0
ALPHA = 0.25
STRENGTHS = (0.0, 0.25, 0.5, 0.75, 1.0)
SCALE = 10**6
"""Weights are whole millionths: sums compare exactly."""

Key = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Problem:
    """One problem with the mutants of all others seen through its columns.

    Attributes
    ----------
    case : Case
    bank : Bank
        Of its own mutants.
    wide : Bank
        Of all mutants, over the same sets: own ones first, then those of the others.
    rows : ndarray of intp
        Place of each row of ``wide`` among the mutants of all problems.
    own, near, far : ndarray of bool, classes x rows
        Class membership of own mutants, of those in problems of the same operation class, and of
        all foreign ones.
    """

    case: Case
    bank: Bank
    wide: Bank
    rows: NDArray[np.intp]
    own: NDArray[np.bool_]
    near: NDArray[np.bool_]
    far: NDArray[np.bool_]

    @property
    def mutants(self) -> int:
        """Own ones."""
        return len(self.case.instance.mutants)

    def weights(self, training: NDArray[np.bool_], strength: float) -> NDArray[np.int64]:
        """Weight of every row of ``wide`` under some training sets.

        Parameters
        ----------
        training : ndarray of bool, shape (folds, all mutants)
        strength : float

        Returns
        -------
        ndarray of int64, shape (rows, folds)
        """
        seen = training[:, self.rows].T.astype(np.float64)
        own, near, far = (table.astype(np.float64) for table in (self.own, self.near, self.far))
        count, close, all_far = own @ seen, near @ seen, far @ seen
        mine = np.maximum(seen[: self.mutants].sum(axis=0), 1.0)
        theirs = np.maximum(all_far.sum(axis=0), 1.0)
        alpha = np.where(all_far.sum(axis=0) > 0, ALPHA * mine, 0.0)
        share = (count + alpha * all_far / theirs) / np.maximum(mine + alpha, 1.0)
        kappa = np.where(all_far > 0, KAPPA, 0.0)
        part = share / np.maximum(count + kappa, 1e-12)  # of each own mutant
        pull = part * kappa
        by_near = pull / (close + KAPPA)
        by_far = pull * KAPPA / (close + KAPPA) / np.maximum(all_far, 1.0)
        spread = (own.T @ part + near.T @ by_near + far.T @ by_far) * seen
        plain = np.zeros_like(spread)
        plain[: self.mutants] = seen[: self.mutants] / mine
        mixed = (1.0 - strength) * plain + strength * spread
        whole: NDArray[np.int64] = np.rint(SCALE * mixed).astype(np.int64)
        return whole

    def best(self, training: NDArray[np.bool_], strength: float) -> NDArray[np.intp]:
        """Positions of the best sets, one a training set; ties as in plain coverage."""
        own = self.rows[: self.mutants]
        value = product(self.wide.detected, self.wide.summed(self.weights(training, strength)))
        plain = np.where(training[:, own].T, self.case.instance.weights[:, None], 0)
        return break_ties(self.bank, value == value.max(axis=0), plain)


def prepare(matrix: Matrix, found: Sequence[Case], budget: int) -> tuple[Problem, ...]:
    """Build the tables of all problems.

    Parameters
    ----------
    matrix : Matrix
    found : sequence of Case
    budget : int

    Raises
    ------
    UserError
        If there are too many small suites to table.
    """
    keys = [_keys(matrix, case, case.table.inputs) for case in found]
    kills = [_table_kills(case) for case in found]
    classes = [_classes(matrix, case) for case in found]
    starts = np.cumsum([0, *(len(case.instance.mutants) for case in found)])
    problems = []
    for place, case in enumerate(found):
        if bank_cells(case.instance, budget) > BANK_CELLS:
            raise UserError(
                f"the objective held-out tables all suites of up to {budget} inputs, which are too "
                f"many for {case.problem}; give a smaller --budget or --objective coverage"
            )
        columns = _keys(matrix, case, case.instance.inputs)
        others = [other for other in range(len(found)) if other != place]
        foreign = [_seen_through(kills[other], keys[other], columns) for other in others]
        rows = np.concatenate(
            [np.arange(starts[q], starts[q + 1]) for q in (place, *others)]
        ).astype(np.intp)
        operation = classes[place][0]
        labels = [label for q in (place, *others) for label in classes[q][1]]
        same = [classes[q][0] == operation for q in (place, *others) for _ in classes[q][1]]
        names = {label: number for number, label in enumerate(sorted(set(labels)))}
        member = np.zeros((len(names), len(labels)), dtype=np.bool_)
        member[[names[label] for label in labels], np.arange(len(labels))] = True
        mine = np.arange(len(labels)) < len(case.instance.mutants)
        problems.append(
            Problem(
                case=case,
                bank=make_bank(case.instance, budget),
                wide=make_bank(_widened(case.instance, foreign), budget),
                rows=rows,
                own=member & mine,
                near=member & ~mine & np.array(same),
                far=member & ~mine,
            )
        )
    return tuple(problems)


def _keys(matrix: Matrix, case: Case, columns: Sequence[str]) -> list[Key]:
    """What an input is, whatever the problem: its recipes, and what it is compared by."""
    rows = input_rows(matrix, case.problem, columns)
    recipes = zip(
        rows["value_recipe"].astype(str),
        rows["parameter_recipe"].astype(str),
        rows["shape_recipe"].astype(str),
        strict=True,
    )
    comparator = case.table.oracle.comparator
    return [
        (*recipe, comparator_of(name, comparator))
        for recipe, name in zip(recipes, columns, strict=True)
    ]


def _table_kills(case: Case) -> NDArray[np.bool_]:
    kills = case.table.kills[case.rows_of(case.table)].toarray()
    return np.asarray(kills & np.isfinite(case.table.tolerances))


def _classes(matrix: Matrix, case: Case) -> tuple[str, list[Key]]:
    """Operation class of a problem, and rule and kind of site of its mutants."""
    operation = str(matrix.problem(case.problem)["operation_class"])
    labels = [
        ("+".join(rules), "+".join(sorted({file.rpartition(".")[2] for file in files})))
        for rules, files in zip(case.rules, case.about.files, strict=True)
    ]
    return operation, list(labels)


def _seen_through(
    kills: NDArray[np.bool_], keys: Sequence[Key], columns: Sequence[Key]
) -> NDArray[np.bool_]:
    """Kills of another problem in the order of these columns; nothing where it lacks a recipe."""
    places: dict[Key, int] = {}
    for place, key in enumerate(keys):
        places.setdefault(key, place)
    seen = np.zeros((len(kills), len(columns)), dtype=np.bool_)
    for column, key in enumerate(columns):
        if key in places:
            seen[:, column] = kills[:, places[key]]
    return seen


def _widened(instance: Instance, foreign: Sequence[NDArray[np.bool_]]) -> Instance:
    """The instance with the mutants of other problems below its own; they have no slack."""
    more = sum(len(part) for part in foreign)
    nothing = np.zeros((more, len(instance.inputs)), dtype=np.int32)
    return replace(
        instance,
        mutants=(*instance.mutants, *(f"foreign {row}" for row in range(more))),
        kills=np.ascontiguousarray(np.vstack([instance.kills, *foreign])),
        weights=np.concatenate([instance.weights, np.ones(more, dtype=np.int64)]),
        slack=np.vstack([instance.slack, nothing]),
        given=np.concatenate([instance.given, np.zeros(more, dtype=np.int8)]),
        given_slack=np.concatenate([instance.given_slack, np.zeros(more, dtype=np.int32)]),
    )


def choose_strength(
    problems: Sequence[Problem],
    training: NDArray[np.bool_],
    groups: NDArray[np.intp],
    inner: int = 3,
    strengths: Sequence[float] = STRENGTHS,
    seed: int = 0,
) -> NDArray[np.intp]:
    """Choose the strength of every training set by cross-validation within it.

    Whole groups are held out; plain detection of what was held out, over all problems, decides,
    and of equal strengths the smallest, which is plain coverage, is taken.

    Parameters
    ----------
    problems : sequence of Problem
    training : ndarray of bool, shape (folds, all mutants)
    groups : ndarray of intp, shape (all mutants,)
        What is held out together, as outside.
    inner : int
        Folds within a training set.
    strengths : sequence of float
        Ascending.
    seed : int

    Returns
    -------
    ndarray of intp, folds
        Positions in ``strengths``.
    """
    random = np.random.default_rng(seed)
    numbers = np.unique(groups, return_inverse=True)[1]
    folds = random.permutation(int(numbers.max(initial=0)) + 1)[numbers] % inner
    out = np.concatenate([training & (folds == fold) for fold in range(inner)])
    kept = np.concatenate([training & (folds != fold) for fold in range(inner)])
    value = np.zeros((len(strengths), len(training)))
    for problem in problems:
        own = problem.rows[: problem.mutants]
        usable = kept[:, own].any(axis=1) & out[:, own].any(axis=1)
        if not usable.any():
            continue
        for place, strength in enumerate(strengths):
            killed = problem.bank.detects(problem.best(kept[usable], strength))
            hits = np.zeros(len(kept))
            hits[usable] = (killed & out[usable][:, own]).sum(axis=1)
            value[place] += hits.reshape(inner, len(training)).sum(axis=0)
    return np.asarray(value.argmax(axis=0), dtype=np.intp)
