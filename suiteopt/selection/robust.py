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
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suiteopt.selection.bank import Bank, break_ties, product
from suiteopt.selection.cases import Case

KAPPA = 2.0
ALPHA = 0.25
STRENGTHS = (0.0, 0.25, 0.5, 0.75, 1.0)
SCALE = 10**6
"""Weights are whole millionths: sums compare exactly."""


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
