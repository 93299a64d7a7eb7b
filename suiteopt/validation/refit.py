"""The whole procedure, repeated on the training mutants of every fold."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from suiteopt.selection.bank import BANK_CELLS, Bank, bank_cells, best_sets, make_bank
from suiteopt.selection.instance import Instance
from suiteopt.selection.parts import columns_of, keep_rows
from suiteopt.selection.solve import solve


@dataclass(frozen=True, eq=False)
class Refits:
    """What was chosen without each fold, and what else the fold allows.

    Attributes
    ----------
    chosen : tuple of tuple of int
        Ascending columns, one suite a fold.
    killed : ndarray of bool, shape (folds, m)
        What that suite kills, given inputs included.
    single : ndarray of bool, shape (folds, m)
        What the best single input kills, chosen without the fold too.
    ceiling : ndarray of int64, shape (folds,)
        The most held-out mutants that any suite kills.
    """

    chosen: tuple[tuple[int, ...], ...]
    killed: NDArray[np.bool_]
    single: NDArray[np.bool_]
    ceiling: NDArray[np.int64]


class Refitter:
    """One problem, ready to be solved for any number of folds.

    Everything that looks at kills is done again in each fold: the choice and all its tie-breaks.
    Small problems are solved for all folds by one matrix product over a table of all small
    suites, which is built once; the others one by one.

    Parameters
    ----------
    instance : Instance
    budget : int
    solver : str
        As `suiteopt.selection.solve.solve` takes it.
    bank : Bank, optional
        All suites within the budget, where they are tabled already.
    """

    def __init__(
        self, instance: Instance, budget: int, solver: str, bank: Bank | None = None
    ) -> None:
        self.instance = instance
        self.budget = budget
        self.solver = solver
        self._known = bank

    @cached_property
    def bank(self) -> Bank | None:
        """All suites within the budget, where that is how the problem is solved."""
        if self._known is not None:
            return self._known
        small = bank_cells(self.instance, self.budget) <= BANK_CELLS
        if self.solver in ("auto", "enumerate") and small:
            return make_bank(self.instance, self.budget)
        return None

    @cached_property
    def _singles(self) -> Bank:
        return make_bank(self.instance, 1)

    def refit(self, held: NDArray[np.bool_], sets: NDArray[np.intp] | None = None) -> Refits:
        """Choose a suite for every fold from the mutants outside it.

        Parameters
        ----------
        held : ndarray of bool, shape (folds, m)
        sets : ndarray of intp, shape (folds,), optional
            Positions in the bank of suites that were chosen already, by another objective.
        """
        if self.bank is not None:
            return self._by_bank(self.bank, held, sets)
        instance = self.instance
        chosen, singles, ceiling = [], [], []
        for fold in held:
            training = keep_rows(instance, np.flatnonzero(~fold))
            chosen.append(_solved(training, self.budget, self.solver))
            singles.append(_solved(training, 1, self.solver))
            held_out = keep_rows(instance, np.flatnonzero(fold))
            ceiling.append(solve(held_out, self.budget, self.solver).bound)
        return Refits(
            tuple(chosen),
            np.array([kills_of(instance, columns) for columns in chosen]),
            np.array([kills_of(instance, columns) for columns in singles]),
            np.array(ceiling, dtype=np.int64),
        )

    def suites(
        self, held: NDArray[np.bool_], sets: NDArray[np.intp] | None = None
    ) -> tuple[tuple[int, ...], ...]:
        """Return the columns that `refit` chooses, and nothing else."""
        if self.bank is None:
            instance = self.instance
            kept = (keep_rows(instance, np.flatnonzero(~fold)) for fold in held)
            return tuple(_solved(training, self.budget, self.solver) for training in kept)
        if sets is None:
            sets = best_sets(self.bank, self._training(held))
        return tuple(self.bank.sets[place] for place in sets)

    def plain(self, held: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """What the suites chosen by plain coverage without each fold kill; shape (folds, m)."""
        if self.bank is None:
            return self.refit(held).killed
        return self.bank.detects(best_sets(self.bank, self._training(held)))

    def _training(self, held: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Weights of the mutants outside each fold; shape (m, folds)."""
        return np.where(held.T, 0, self.instance.weights[:, None])

    def _by_bank(
        self, bank: Bank, held: NDArray[np.bool_], sets: NDArray[np.intp] | None
    ) -> Refits:
        training = self._training(held)
        winners = best_sets(bank, training) if sets is None else sets
        return Refits(
            tuple(bank.sets[winner] for winner in winners),
            bank.detects(winners),
            self._singles.detects(best_sets(self._singles, training)),
            bank.reached(self._training(~held)).astype(np.int64),
        )


def refit(instance: Instance, held: NDArray[np.bool_], budget: int, solver: str) -> Refits:
    """Choose a suite for every fold, once: see `Refitter`."""
    return Refitter(instance, budget, solver).refit(held)


def _solved(instance: Instance, budget: int, solver: str) -> tuple[int, ...]:
    return tuple(columns_of(instance, solve(instance, budget, solver).members, "find"))


def kills_of(instance: Instance, columns: Sequence[int]) -> NDArray[np.bool_]:
    """Tell which mutants some columns and the given inputs kill; shape (m,)."""
    killed: NDArray[np.bool_] = (instance.given > 0) | instance.kills[:, list(columns)].any(axis=1)
    return killed
