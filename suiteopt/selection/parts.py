"""Parts of an instance: some columns or rows of it, and what some columns leave open."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from suiteopt.errors import UserError
from suiteopt.selection.instance import Instance


def keep_columns(instance: Instance, columns: Sequence[int] | NDArray[np.intp]) -> Instance:
    """Restrict to ascending column indices."""
    index = np.asarray(columns, dtype=np.intp)
    if len(index) == len(instance.inputs):
        return instance
    return replace(
        instance,
        inputs=tuple(instance.inputs[column] for column in index),
        kills=instance.part(instance.kills, index),
        slack=instance.part(instance.slack, index),
        costs=instance.costs[index],
        groups=None if instance.groups is None else instance.groups[index],
    )


def keep_rows(instance: Instance, rows: NDArray[np.intp]) -> Instance:
    """Restrict to some mutants, by index."""
    return replace(
        instance,
        mutants=tuple(instance.mutants[row] for row in rows),
        kills=np.ascontiguousarray(instance.kills[rows]),
        weights=instance.weights[rows],
        slack=np.ascontiguousarray(instance.slack[rows]),
        given=instance.given[rows],
        given_slack=instance.given_slack[rows],
    )


def credit(instance: Instance, columns: Sequence[int]) -> Instance:
    """Run some columns anyway: their kills become given ones, and they leave with their groups."""
    if not len(columns):
        return instance
    chosen = list(columns)
    given = np.minimum(2, instance.counts_in_all(chosen))
    slack = np.maximum(instance.given_slack, instance.slack_by(chosen).max(axis=1))
    credited = replace(instance, given=given.astype(np.int8), given_slack=slack)
    return keep_columns(credited, np.flatnonzero(~taken(instance, chosen)))


def taken(instance: Instance, chosen: Sequence[int]) -> NDArray[np.bool_]:
    """Tell which columns are chosen, or share a group with one that is; shape (n,)."""
    mask = np.zeros(len(instance.inputs), dtype=np.bool_)
    mask[list(chosen)] = True
    if instance.groups is not None:
        mask |= np.isin(instance.groups, instance.groups[list(chosen)])
    return mask


def most_columns(instance: Instance) -> int:
    """Return how many columns a suite can have at most: all, or one a group."""
    if instance.groups is None:
        return len(instance.inputs)
    return len(np.unique(instance.groups))


def clashes(instance: Instance) -> list[NDArray[np.intp]]:
    """Groups of two columns or more, of which at most one may be chosen."""
    if instance.groups is None:
        return []
    _, inverse, sizes = np.unique(instance.groups, return_inverse=True, return_counts=True)
    return [np.flatnonzero(inverse == group) for group in np.flatnonzero(sizes > 1)]


def columns_of(instance: Instance, names: Sequence[str], purpose: str) -> list[int]:
    """Translate input ids to columns.

    Raises
    ------
    UserError
        If an id is unknown here.
    """
    positions = {name: column for column, name in enumerate(instance.inputs)}
    unknown = [name for name in names if name not in positions]
    if unknown:
        raise UserError(
            f"cannot {purpose} input '{unknown[0]}': it is not a choosable input of "
            f"{instance.problem}; `suiteopt show` lists those that are"
        )
    return sorted({positions[name] for name in names})
