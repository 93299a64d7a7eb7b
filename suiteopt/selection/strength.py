"""How strongly classes weigh in the held-out objective: chosen by cross-validation.

Nothing that a fold holds out has a say in its strength.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from suiteopt.selection.robust import STRENGTHS, Problem
from suiteopt.threads import side_by_side

BLOCKS = 6
"""Folds up to which each is left out by itself to choose the strength of another; above, blocks."""


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
    if not problems:
        return np.zeros(len(training), dtype=np.intp)
    random = np.random.default_rng(seed)
    numbers = np.unique(groups, return_inverse=True)[1]
    folds = random.permutation(int(numbers.max(initial=0)) + 1)[numbers] % inner
    out = np.concatenate([training & (folds == fold) for fold in range(inner)])
    kept = np.concatenate([training & (folds != fold) for fold in range(inner)])
    value = _reached(problems, kept, [out], strengths)[:, 0]
    by_fold = value.reshape(len(strengths), inner, len(training)).sum(axis=1)
    return np.asarray(by_fold.argmax(axis=0), dtype=np.intp)


def fold_strengths(
    problems: Sequence[Problem], plans: Sequence[tuple[NDArray[np.bool_], int]]
) -> tuple[NDArray[np.float64], ...]:
    """Choose the strength of every fold by the other folds of its repeat.

    What two folds hold out is left out together; the suites chosen on the rest are judged on the
    one fold for the strength of the other, and the other way round. So nothing that a fold holds
    out has a say in its strength, and one table serves two folds. Of many folds that leave one
    label out each, blocks are left out instead: all of a block have one strength.

    Parameters
    ----------
    problems : sequence of Problem
    plans : sequence of (ndarray of bool, int)
        What each fold holds out, shape (folds, all mutants), and how many repeats these are, one
        behind the other. All plans are valued by one product a problem.

    Returns
    -------
    tuple of ndarray of float64, shape (folds,)
    """
    blocks = [_blocks(held, repeats) for held, repeats in plans]
    pairs = [(number, *pair) for number, block in enumerate(blocks) for pair in block.pairs()]
    if not pairs or not problems:
        return tuple(np.zeros(len(held)) for held, _ in plans)
    first = np.array([blocks[number].held[a] for number, a, _ in pairs])
    second = np.array([blocks[number].held[b] for number, _, b in pairs])
    judged = [second & ~first, first & ~second]
    reached = _reached(problems, ~(first | second), judged, STRENGTHS)
    values = [np.zeros((len(STRENGTHS), len(block.held))) for block in blocks]
    for place, (number, a, b) in enumerate(pairs):
        values[number][:, a] += reached[:, 0, place]
        values[number][:, b] += reached[:, 1, place]
    return tuple(
        np.array(STRENGTHS)[value.argmax(axis=0)][block.of_fold]
        for value, block in zip(values, blocks, strict=True)
    )


@dataclass(frozen=True, eq=False)
class _Blocks:
    """Folds that are left out together, of all repeats."""

    held: NDArray[np.bool_]
    of_fold: NDArray[np.intp]
    repeats: int

    def pairs(self) -> list[tuple[int, int]]:
        """Blocks of one repeat; of two that leave nothing, one of each of two repeats."""
        size = len(self.held) // max(self.repeats, 1)
        if size > 2:
            return [
                (start + a, start + b)
                for start in range(0, len(self.held), size)
                for a, b in combinations(range(size), 2)
            ]
        numbers = range(len(self.held))
        return [(a, b) for a, b in combinations(numbers, 2) if b // 2 == a // 2 + 1]


def _blocks(held: NDArray[np.bool_], repeats: int) -> _Blocks:
    folds = len(held) // max(repeats, 1)
    places = np.arange(folds)
    if folds > BLOCKS:
        places = np.random.default_rng(0).permutation(folds) % BLOCKS
    size = min(folds, BLOCKS)
    of_fold = np.concatenate(
        [np.zeros(0, dtype=np.intp), *(places + size * repeat for repeat in range(repeats))]
    ).astype(np.intp)
    together = np.zeros((size * repeats, held.shape[1]), dtype=np.bool_)
    np.logical_or.at(together, of_fold, held)
    return _Blocks(together, of_fold, repeats)


def _reached(
    problems: Sequence[Problem],
    kept: NDArray[np.bool_],
    judged: Sequence[NDArray[np.bool_]],
    strengths: Sequence[float],
) -> NDArray[np.float64]:
    """How many judged mutants the suites detect that each strength chooses.

    Parameters
    ----------
    problems : sequence of Problem
        At least one.
    kept : ndarray of bool, shape (n, all mutants)
        Training sets.
    judged : sequence of ndarray of bool, each as ``kept``
    strengths : sequence of float

    Returns
    -------
    ndarray of float64, shape (strengths, judged, n)
    """
    counted = problems[0].pool.training(kept)

    def of_problem(problem: Problem) -> NDArray[np.float64]:
        value = np.zeros((len(strengths), len(judged), len(kept)))
        masks = [mask[:, problem.span] for mask in judged]
        usable = kept[:, problem.span].any(axis=1) & np.any([m.any(axis=1) for m in masks], axis=0)
        if not usable.any():
            return value
        asked = np.repeat(np.array(strengths)[:, None], int(usable.sum()), axis=1)
        for place, best in enumerate(problem.best(counted.some(usable), asked)):
            hit = problem.bank.detects(best)
            for number, mask in enumerate(masks):
                value[place, number, usable] = (hit & mask[usable]).sum(axis=1)
        return value

    total: NDArray[np.float64] = np.sum(side_by_side(of_problem, problems), axis=0)
    return total
