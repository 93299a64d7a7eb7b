"""Smaller instances with the same answer.

Merging equal rows into weights and dropping dominated columns are valid for a budget and for full
cover. Row dominance is valid for full cover alone (`suiteopt.selection.cover`): under a budget a
mutant that every killer of another one kills too still counts.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from suiteopt.selection.instance import Instance
from suiteopt.selection.parts import keep_columns, keep_rows


def merge_rows(instance: Instance) -> Instance:
    """Merge mutants with equal kills and equal given kills; weights add up.

    Keeps (detected, twice) of every set of columns. Slack of merged mutants may differ, so it is
    dropped: evaluate slack on the instance as it was. Mutants that no column kills stay only in
    the totals of the instance as it was, too.
    """
    if not instance.mutants:
        return instance
    packed = np.packbits(instance.kills, axis=1)
    keyed = np.ascontiguousarray(np.column_stack([packed, instance.given.astype(np.uint8)]))
    rows = keyed.view([("", keyed.dtype)] * keyed.shape[1]).ravel()
    _, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
    weights = np.bincount(inverse.ravel(), weights=instance.weights).astype(np.int64)
    order = np.argsort(first)
    merged = keep_rows(instance, first[order])
    merged = replace(merged, weights=weights[order], slack=np.zeros_like(merged.slack))
    return keep_rows(merged, np.flatnonzero(merged.kills.any(axis=1)))


def drop_dominated(instance: Instance, copies: int) -> tuple[Instance, NDArray[np.intp]]:
    """Drop every column that at least ``copies`` others dominate.

    Column b dominates a when it kills whatever a kills with no less slack, and is cheaper, or as
    cheap with the smaller id. A set of at most k columns that holds a lacks one of k dominators,
    and exchanging a for that one is no loss in any objective and a gain in cost or id: hence
    ``copies=k`` keeps the optimum to the last tie-break. More kills or more slack do not make up
    for a larger id, since other members may hide them. One dominator is not enough, since a
    dominated column may be what kills a mutant the second time; where only detection or the
    number of columns counts, ``copies=1`` is valid.

    Of a group at most one column is chosen, so a dominator in the column's own group is never in
    the set already: one is enough. Others count once a group.

    Returns
    -------
    instance : Instance
    kept : ndarray of intp
        Ascending columns of the instance as it was.
    """
    columns = len(instance.inputs)
    kills = instance.kills.astype(np.float32)
    sizes = kills.sum(axis=0)
    candidate = (kills.T @ kills) == sizes[:, None]  # [a, b]: b kills whatever a kills
    cheaper = instance.costs[None, :] < instance.costs[:, None]
    as_cheap = instance.costs[None, :] == instance.costs[:, None]
    candidate &= cheaper | (as_cheap & np.tri(columns, k=-1, dtype=np.bool_))
    dominators = np.zeros(columns, dtype=np.int64)
    for a in range(columns):
        others = np.flatnonzero(candidate[a])
        if len(others) < (copies if instance.groups is None else 1):
            continue
        rows = instance.kills[:, a]
        ours, theirs = instance.slack[rows, a][:, None], instance.slack[rows][:, others]
        dominators[a] = _copies(instance, a, others[(ours <= theirs).all(axis=0)], copies)
    kept = np.flatnonzero(dominators < copies)
    return keep_columns(instance, kept), kept


def _copies(instance: Instance, column: int, dominators: NDArray[np.intp], copies: int) -> int:
    """How many exchanges for a column are open whatever else is chosen."""
    if instance.groups is None:
        return len(dominators)
    groups = instance.groups[dominators]
    if np.any(groups == instance.groups[column]):
        return copies
    return len(np.unique(groups))
