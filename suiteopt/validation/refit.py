"""The whole procedure, repeated on the training mutants of every fold."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suiteopt.selection.bank import BANK_CELLS, bank_cells, best_sets, make_bank
from suiteopt.selection.instance import Instance, columns_of, keep_rows
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


def refit(instance: Instance, held: NDArray[np.bool_], budget: int, solver: str) -> Refits:
    """Choose a suite for every fold from the mutants outside it.

    Everything that looks at kills is done again in each fold: the choice and all its tie-breaks.
    Small problems are solved for all folds by one matrix product; the others one by one.

    Parameters
    ----------
    instance : Instance
    held : ndarray of bool, shape (folds, m)
    budget : int
    solver : str
        As `suiteopt.selection.solve.solve` takes it.
    """
    if solver in ("auto", "enumerate") and bank_cells(instance, budget) <= BANK_CELLS:
        return _by_bank(instance, held, budget)
    chosen, singles, ceiling = [], [], []
    for fold in held:
        training = keep_rows(instance, np.flatnonzero(~fold))
        chosen.append(_solved(training, budget, solver))
        singles.append(_solved(training, 1, solver))
        held_out = keep_rows(instance, np.flatnonzero(fold))
        ceiling.append(solve(held_out, budget, solver).bound)
    return Refits(
        tuple(chosen),
        np.array([_kills(instance, columns) for columns in chosen]),
        np.array([_kills(instance, columns) for columns in singles]),
        np.array(ceiling, dtype=np.int64),
    )


def _by_bank(instance: Instance, held: NDArray[np.bool_], budget: int) -> Refits:
    weights = instance.weights[:, None]
    training = np.where(held.T, 0, weights)
    bank = make_bank(instance, budget)
    singles = make_bank(instance, 1)
    winners = best_sets(bank, training)
    held_out = np.where(held.T, weights, 0).astype(np.float64)
    reached = bank.detected.astype(np.float64) @ held_out
    return Refits(
        tuple(bank.sets[winner] for winner in winners),
        bank.detected[winners],
        singles.detected[best_sets(singles, training)],
        reached.max(axis=0).astype(np.int64),
    )


def _solved(instance: Instance, budget: int, solver: str) -> tuple[int, ...]:
    return tuple(columns_of(instance, solve(instance, budget, solver).members, "find"))


def _kills(instance: Instance, columns: tuple[int, ...]) -> NDArray[np.bool_]:
    killed: NDArray[np.bool_] = (instance.given > 0) | instance.kills[:, list(columns)].any(axis=1)
    return killed
