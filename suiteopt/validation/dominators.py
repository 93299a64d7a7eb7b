"""The dominator score: detection over the mutants that no other mutant makes superfluous.

A mutant subsumes another when every input that kills it kills the other one too. Mutants that are
minimal under this order (equal ones counted once) are what a suite has to work for; the rest falls
with them and inflates a raw score.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suiteopt.selection.instance import Instance


@dataclass(frozen=True, eq=False)
class Dominators:
    """The minimal mutants of one problem.

    Attributes
    ----------
    rows : ndarray of intp
        One mutant of each class of equal kills, ascending.
    killable : int
        Mutants that some choosable or given input kills; the others are in no class.
    """

    rows: NDArray[np.intp]
    killable: int


def dominators(instance: Instance) -> Dominators:
    """Find the minimal mutants over the choosable and the given inputs.

    Given inputs are one further column: how many of them kill a mutant is not known, that one of
    them does is.
    """
    table = np.column_stack([instance.kills, instance.given > 0])
    killable = np.flatnonzero(table.any(axis=1))
    if not len(killable):
        return Dominators(killable, 0)
    _, first = np.unique(table[killable], axis=0, return_index=True)
    first = np.sort(first)
    classes = table[killable[first]].astype(np.float32)
    shared = classes @ classes.T
    within = shared == classes.sum(axis=1)[:, None]  # [a, b]: all killers of a kill b
    np.fill_diagonal(within, False)
    minimal = ~within.any(axis=0)
    return Dominators(np.asarray(killable[first[minimal]], dtype=np.intp), len(killable))
