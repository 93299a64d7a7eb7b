"""Folds of mutants: at random, by site, by rule, by family, by substrate.

A fold is a boolean mask over the mutants of all problems together; True is held out.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from suiteopt.selection.sites import site_groups

__all__ = [
    "Folds",
    "Split",
    "label_folds",
    "random_folds",
    "site_folds",
    "site_groups",
]


class Split(StrEnum):
    """How mutants are held out."""

    RANDOM = "random"  # stratified by problem and family; near-duplicates on both sides
    SITE = "site"  # all edits of one expression together: the primary figure
    RULE = "rule"  # one rule at a time, from all problems at once
    FAMILY = "family"  # one family at a time, from all problems at once
    SUBSTRATE = "substrate"  # one implementation at a time, where a problem has several


@dataclass(frozen=True, eq=False)
class Folds:
    """Folds of one split, all repeats one behind the other.

    Attributes
    ----------
    held : ndarray of bool, shape (folds, mutants)
    repeats : int
    share : ndarray of float64, shape (mutants,)
        What a mutant weighs each time it is held out, so that it weighs 1 in every repeat.
    names : tuple of str
        What each fold holds out; empty where folds have no names.
    """

    held: NDArray[np.bool_]
    repeats: int
    share: NDArray[np.float64]
    names: tuple[str, ...] = ()


def random_folds(
    strata: Sequence[tuple[str, ...]], count: int, repeats: int, seed: int = 0
) -> Folds:
    """Hold out at random, each stratum spread evenly over the folds.

    Parameters
    ----------
    strata : sequence of tuple of str, one a mutant
        From coarse to fine: problem and family. The finest level that has a stratum as large as
        there are folds is kept even over the folds.
    count : int
        Folds a repeat; fewer where there are fewer mutants.
    repeats : int
    seed : int
        Of the first repeat; the others count up from it.
    """
    mutants = len(strata)
    folds = min(count, mutants)
    if folds < 2:
        return _none(mutants)
    from sklearn.model_selection import StratifiedKFold  # slow to import

    labels = _finest(strata, folds)
    held = []
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        for repeat in range(repeats):
            splitter = StratifiedKFold(folds, shuffle=True, random_state=seed + repeat)
            held += [_mask(test, mutants) for _, test in splitter.split(labels, labels)]
    return Folds(np.array(held), repeats, np.ones(mutants))


def site_folds(groups: NDArray[np.intp], count: int, repeats: int, seed: int = 0) -> Folds:
    """Hold whole groups out, shuffled anew in every repeat."""
    mutants = len(groups)
    folds = min(count, len(np.unique(groups)))
    if folds < 2:
        return _none(mutants)
    from sklearn.model_selection import GroupKFold

    held = []
    for repeat in range(repeats):
        splitter = GroupKFold(folds, shuffle=True, random_state=seed + repeat)
        held += [_mask(test, mutants) for _, test in splitter.split(groups, groups=groups)]
    return Folds(np.array(held), repeats, np.ones(mutants))


def label_folds(labels: Sequence[Sequence[str]]) -> Folds:
    """Hold one label out at a time: no mutant that has it is trained on.

    A merged duplicate has several rules. It is held out with each of them and shares its weight
    among these folds; grouping all rules that some duplicate links would make one fold of most.

    Parameters
    ----------
    labels : sequence of sequences of str, one a mutant
        Its rules, or its family alone.
    """
    names = sorted({name for own in labels for name in own})
    if len(names) < 2:
        return _none(len(labels))
    position = {name: fold for fold, name in enumerate(names)}
    held = np.zeros((len(names), len(labels)), dtype=np.bool_)
    for mutant, own in enumerate(labels):
        for name in own:
            held[position[name], mutant] = True
    times = held.sum(axis=0)
    return Folds(held, 1, np.where(times > 0, 1.0 / np.maximum(times, 1), 0.0), tuple(names))


def _finest(strata: Sequence[tuple[str, ...]], folds: int) -> NDArray[np.intp]:
    """Labels of the finest level that scikit-learn accepts: it asks for one full stratum."""
    for depth in range(len(strata[0]), 0, -1):
        names = ["\0".join(stratum[:depth]) for stratum in strata]
        labels = np.unique(names, return_inverse=True)[1]
        if np.bincount(labels).max() >= folds:
            return np.asarray(labels, dtype=np.intp)
    return np.zeros(len(strata), dtype=np.intp)


def _mask(indices: NDArray[np.intp], length: int) -> NDArray[np.bool_]:
    mask = np.zeros(length, dtype=np.bool_)
    mask[indices] = True
    return mask


def _none(mutants: int) -> Folds:
    return Folds(np.zeros((0, mutants), dtype=np.bool_), 0, np.ones(mutants))
