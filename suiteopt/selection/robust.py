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
fall as in plain coverage. Nothing held out has a weight. It is linear in s: one table of values by
coverage and one by classes give those of all strengths.

All mutants of one class and relation (own, near, far) weigh the same, so that weights are made for
these groups, and mutants are counted by group and kills before anything is multiplied.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from suiteopt.selection.bank import Bank, best_sets, break_ties, product
from suiteopt.selection.cases import Case
from suiteopt.selection.robust_pool import Pool, Training, indicator

KAPPA = 2.0
ALPHA = 0.25
STEPS = 4
STRENGTHS = tuple(step / STEPS for step in range(STEPS + 1))
PART = 10**6
"""What all mutants weigh by coverage, and by classes: sums of whole weights compare exactly."""

SCALE = STEPS * PART
"""What a suite that kills everything is worth: below 2**24, so that float32 is exact too."""

_PRODUCT_CELLS = 4_000_000  # a table of values, or a part of the sets, in memory
_TIED_CELLS = 400_000  # values of all strengths that stay in the cache


@dataclass(frozen=True)
class Optimum:
    """The best suite of one problem, and the proof.

    Attributes
    ----------
    columns : tuple of int
        Ascending.
    value : int
        Of the objective, in parts of `SCALE`, counted mutant by mutant.
    bound : int
        The most that any suite within the budget is worth: all of them are tabled.
    unique : bool
        Whether no other suite is worth as much, so that no tie had to be broken.
    """

    columns: tuple[int, ...]
    value: int
    bound: int
    unique: bool


@dataclass(frozen=True, eq=False)
class Problem:
    """One problem with the mutants of all others seen through its columns.

    Attributes
    ----------
    case : Case
    bank : Bank
        Of its own mutants; its instance is the case's, unless other controls calibrate.
    pool : Pool
    span : slice
        Where its own mutants stand in the pool.
    operation : int
        Number of its operation class.
    kinds : ndarray of intp, shape (all mutants,)
        Mutants with equal kills here have the same number.
    killers : ndarray of bool, shape (columns + 1, kinds)
        What each column kills; the last row is what is killed without one.
    """

    case: Case
    bank: Bank
    pool: Pool
    span: slice
    operation: int
    kinds: NDArray[np.intp]
    killers: NDArray[np.bool_]

    @cached_property
    def groups(self) -> NDArray[np.intp]:
        """Group of every mutant: own classes first, then near ones, then far ones."""
        relation = np.where(self.pool.operations == self.operation, 1, 2)
        relation[self.span] = 0
        return np.asarray(relation * self.pool.classes + self.pool.labels, dtype=np.intp)

    def trained(self, training: Training) -> NDArray[np.float64]:
        """How many own mutants are trained on, at least 1; shape (folds,)."""
        count = training.seen[self.span].sum(axis=0, dtype=np.float64)
        return np.asarray(np.maximum(count, 1.0), dtype=np.float64)

    def spread(self, training: Training) -> NDArray[np.float64]:
        """Weight of one mutant of each group where only classes count; shape (groups, folds)."""
        own = indicator(self.pool.labels[self.span], self.pool.classes)
        count = (own @ training.seen[self.span]).astype(np.float64)
        close = training.by_operation[self.operation] - count
        all_far = training.by_operation.sum(axis=0) - count
        mine = self.trained(training)
        theirs = np.maximum(all_far.sum(axis=0), 1.0)
        alpha = np.where(all_far.sum(axis=0) > 0, ALPHA * mine, 0.0)
        share = (count + alpha * all_far / theirs) / np.maximum(mine + alpha, 1.0)
        kappa = np.where(all_far > 0, KAPPA, 0.0)
        part = share / np.maximum(count + kappa, 1e-12)  # of each own mutant
        pull = part * kappa
        by_near = pull / (close + KAPPA)
        by_far = pull * KAPPA / (close + KAPPA) / np.maximum(all_far, 1.0)
        return np.concatenate([part, by_near + by_far, by_far])

    def weights(
        self,
        trained: NDArray[np.float64],
        spread: NDArray[np.float64],
        strength: NDArray[np.float64],
    ) -> NDArray[np.float32]:
        """Whole weight of one mutant of each group that is trained on, in parts of `SCALE`.

        Parameters
        ----------
        trained : ndarray of float64, shape (folds,)
        spread : ndarray of float64, shape (groups, folds)
        strength : ndarray of float64, shape (folds,)

        Returns
        -------
        ndarray of float32, shape (groups, folds)
        """
        step = np.rint(STEPS * strength)
        whole: NDArray[np.float32] = (step * _whole(spread)).astype(np.float32)
        whole[: self.pool.classes] += ((STEPS - step) * _whole(1.0 / trained)).astype(np.float32)
        return whole

    def best(self, training: Training, strengths: NDArray[np.float64]) -> NDArray[np.intp]:
        """Positions of the best sets; ties as in plain coverage.

        Parameters
        ----------
        training : Training
        strengths : ndarray of float64, shape (n, folds)
            What to choose by in each training set, n times.

        Returns
        -------
        ndarray of intp, shape (n, folds)
        """
        plain = self._plain(training)
        found = np.zeros(strengths.shape, dtype=np.intp)
        if np.any(strengths == 0):
            found[:] = best_sets(self.bank, plain)
        if not np.any(strengths > 0):
            return found
        wanted = np.flatnonzero((strengths > 0).any(axis=0))
        steps = np.rint(STEPS * strengths).astype(np.float32)
        step = max(1, _PRODUCT_CELLS // len(self.bank.sets))
        for start in range(0, len(wanted), step):
            folds = wanted[start : start + step]
            own, spread = self._tables(training.at(folds))
            few = max(1, _TIED_CELLS // len(self.bank.sets))
            for first in range(0, len(folds), few):
                part = slice(first, first + few)
                fold = folds[part]
                for row in np.flatnonzero((steps[:, fold] > 0).any(axis=1)):
                    taken = steps[row, fold]
                    value = spread[:, part] * taken + own[:, part] * (STEPS - taken)
                    best = break_ties(self.bank, value == value.max(axis=0), plain[:, fold])
                    found[row, fold] = np.where(taken > 0, best, found[row, fold])
        return found

    def optimum(self, training: Training, strength: float) -> Optimum:
        """Choose for one training set, with what proves the choice.

        Parameters
        ----------
        training : Training
            One alone.
        strength : float
        """
        weights = self.weights(self.trained(training), self.spread(training), np.array([strength]))
        value = self._values(weights, self._cells.by_mutant @ training.seen)
        plain = self._plain(training)
        tied = value == value.max(axis=0)
        best = int(break_ties(self.bank, tied, plain)[0])
        killed = np.asarray(self.killers[[*self.bank.sets[best], -1]].any(axis=0))[self.kinds]
        worth = (weights[self.groups] * training.seen)[killed].sum(dtype=np.float64)
        return Optimum(self.bank.sets[best], int(worth), int(value.max()), int(tied.sum()) == 1)

    def _plain(self, training: Training) -> NDArray[np.int64]:
        """Weights of own mutants by plain coverage, shape (own mutants, folds)."""
        seen = training.seen[self.span] > 0
        weights: NDArray[np.int64] = np.where(seen, self.bank.instance.weights[:, None], 0)
        return weights

    def _tables(self, training: Training) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Values of all sets by coverage and by classes alone, in parts of `PART`."""
        own = product(self.bank.detected, self.bank.summed(training.seen[self.span]))
        own *= _whole(1.0 / self.trained(training))
        spread = _whole(self.spread(training)).astype(np.float32)
        count = self._cells.by_mutant @ training.seen
        return own.astype(np.float32), self._values(spread, count)

    def _values(
        self, weights: NDArray[np.float32], count: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Value of all sets, shape (sets, folds), by weights of groups and counts of cells."""
        weighed = weights[self._cells.groups]
        weighed *= count
        weighed = self._cells.by_kind @ weighed
        padded = self.bank.padded
        value = np.empty((len(padded), weighed.shape[1]), dtype=np.float32)
        step = max(1, _PRODUCT_CELLS // max(1, len(weighed)))
        for start in range(0, len(padded), step):
            part = padded[start : start + step]
            killed = self.killers[part[:, 0]]
            for position in range(1, part.shape[1]):
                killed |= self.killers[part[:, position]]
            np.matmul(killed.astype(np.float32), weighed, out=value[start : start + step])
        return value

    @cached_property
    def _cells(self) -> "_Cells":
        groups = 3 * self.pool.classes
        pairs, cells = np.unique(self.kinds * groups + self.groups, return_inverse=True)
        kinds = np.asarray(pairs // groups, dtype=np.intp)
        return _Cells(
            np.asarray(pairs % groups, dtype=np.intp),
            indicator(cells.ravel(), len(pairs)),
            indicator(kinds, self.killers.shape[1]),
        )


def _whole(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    rounded: NDArray[np.float64] = np.rint(PART * weight)
    return rounded


@dataclass(frozen=True, eq=False)
class _Cells:
    """Mutants of one kind and one group: what is counted before anything is weighed."""

    groups: NDArray[np.intp]
    by_mutant: csr_array
    by_kind: csr_array
