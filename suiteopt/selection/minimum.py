"""The fewest inputs that reach a required detection: of one problem, and of all together."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from suiteopt.errors import UserError
from suiteopt.selection.constraints import Constraints
from suiteopt.selection.instance import Instance
from suiteopt.selection.limits import Limits
from suiteopt.selection.result import Proof, Selection
from suiteopt.selection.solve import empty_selection, solve


@dataclass(frozen=True)
class Minimum:
    """The smallest suites found for a required detection.

    Attributes
    ----------
    selections : tuple of Selection
        One a problem, in the order given; a problem that needs no input has no members.
    members : int
        Inputs in all.
    at_least : int
        No suites with fewer inputs reach what is required; `Proof.PROVED` where equal.
    """

    selections: tuple[Selection, ...]
    members: int
    at_least: int

    @property
    def status(self) -> Proof:
        """Derived from the two counts."""
        return Proof.PROVED if self.members == self.at_least else Proof.FEASIBLE


def required_weight(share: float, total: int) -> int:
    """Smallest whole weight that is at least this share of the total.

    Raises
    ------
    UserError
        If the share is not in (0, 1].
    """
    if not 0.0 < share <= 1.0:
        raise UserError(f"a required detection of {share} is not a share; give one in (0, 1]")
    return ceil(share * total - 1e-9)


def minimum_each(
    instance: Instance,
    required: int,
    limit: int,
    solver: str = "auto",
    *,
    constraints: Constraints | None = None,
    limits: Limits | None = None,
) -> Minimum:
    """Fewest inputs of one problem that detect a weight of at least ``required``.

    Sizes are tried upwards. A size is passed over once a bound shows that it cannot do, and the
    first one that does is taken, with the best suite of that size.

    Parameters
    ----------
    instance : Instance
    required : int
    limit : int
        The most members allowed.
    solver, constraints, limits
        As `suiteopt.selection.solve.solve` takes them.

    Raises
    ------
    UserError
        If even ``limit`` inputs were not found to be enough.
    """
    size = max(1, len((constraints or Constraints()).include))
    nothing = empty_selection(instance)
    if nothing.detected >= required and not (constraints or Constraints()).include:
        return Minimum((nothing,), 0, 0)
    at_least = size
    while True:
        found = solve(instance, size, solver, constraints=constraints, limits=limits)
        if found.detected >= required:
            return Minimum((found,), len(found.members), min(at_least, len(found.members)))
        if found.bound < required and at_least == size:
            at_least = size + 1
        if size >= min(limit, len(instance.inputs)):
            raise UserError(
                f"{instance.problem}: {found.detected} of {instance.total} mutants is what "
                f"{size} inputs were found to detect (at most {found.bound} are possible), "
                f"{required} are required; lower --detect, raise --budget or widen the pool"
            )
        size += 1


def minimum_overall(
    instances: Sequence[Instance],
    required: int,
    limit: int,
    solver: str = "auto",
    *,
    constraints: Sequence[Constraints] | None = None,
    limits: Limits | None = None,
) -> Minimum:
    """Fewest inputs over all problems that detect ``required`` together.

    Curves of detection against size are solved for each problem, and dynamic programming over
    problems finds the cheapest mixture; curves of bounds give the lower bound in the same way.

    Parameters
    ----------
    instances : sequence of Instance
    required : int
    limit : int
        The most members of one problem.
    solver, limits
        As `suiteopt.selection.solve.solve` takes them.
    constraints : sequence of Constraints, optional
        One a problem.

    Raises
    ------
    UserError
        If ``limit`` inputs of every problem were not found to be enough.
    """
    rules = constraints or [Constraints()] * len(instances)
    curves = [
        curve_of(instance, limit, solver, rule, limits)
        for instance, rule in zip(instances, rules, strict=True)
    ]
    found = [[selection.detected for selection in curve] for curve in curves]
    bounds = [[selection.bound for selection in curve] for curve in curves]
    forced = [len(rule.include) for rule in rules]
    sizes = allocate(found, required, forced)
    if sizes is None:
        most = sum(max(values) for values in found)
        raise UserError(
            f"{most} mutants is what {limit} inputs a problem were found to detect, {required} "
            "are required; lower --detect, raise --budget or widen the pool"
        )
    chosen = tuple(curve[size] for curve, size in zip(curves, sizes, strict=True))
    members = sum(len(selection.members) for selection in chosen)
    lower = allocate(bounds, required, forced)
    at_least = sum(lower) if lower is not None else members
    return Minimum(chosen, members, min(at_least, members))


def curve_of(
    instance: Instance,
    limit: int,
    solver: str,
    constraints: Constraints,
    limits: Limits | None,
) -> list[Selection]:
    """Best selections of 0 to at most ``limit`` inputs, until nothing more can be detected."""
    curve = [empty_selection(instance)]
    for size in range(1, min(limit, len(instance.inputs)) + 1):
        if size < len(constraints.include):
            curve.append(curve[-1])
            continue
        curve.append(solve(instance, size, solver, constraints=constraints, limits=limits))
        if curve[-1].detected == instance.ceiling and size >= len(constraints.include):
            break
    return curve


def allocate(
    curves: Sequence[Sequence[int]], required: int, forced: Sequence[int] | None = None
) -> tuple[int, ...] | None:
    """Sizes of the fewest inputs whose detections add up to ``required``, by dynamic programming.

    Parameters
    ----------
    curves : sequence of sequence of int
        Detection with 0, 1, 2, ... inputs of each problem; need not be concave.
    required : int
    forced : sequence of int, optional
        Least size of each problem.

    Returns
    -------
    tuple of int or None
        One size a problem; among equal totals the larger detection, then fewer inputs of the
        later problems. None if out of reach.
    """
    best, choices = sums(curves, forced)
    enough = np.flatnonzero(best >= required)
    if not len(enough):
        return None
    return trace(choices, int(enough[0]))


def sums(
    curves: Sequence[Sequence[int]], forced: Sequence[int] | None = None
) -> tuple[NDArray[np.int64], list[NDArray[np.intp]]]:
    """Largest sum of one value a curve for every total of sizes, by dynamic programming.

    Returns
    -------
    best : ndarray of int64
        By total size; -1 where no choice has that total.
    choices : list of ndarray of intp
        For each curve, the size taken by total of this and all earlier sizes; see `trace`.
    """
    least = forced or [0] * len(curves)
    best = np.array([0], dtype=np.int64)
    choices: list[NDArray[np.intp]] = []
    for curve, low in zip(curves, least, strict=True):
        values = np.asarray(curve, dtype=np.int64)
        length = len(best) + len(values) - 1
        table = np.full((len(values), length), -1, dtype=np.int64)
        for size in range(low, len(values)):
            reached = np.where(best >= 0, best + values[size], -1)
            table[size, size : size + len(best)] = reached
        choices.append(table.argmax(axis=0))
        best = table.max(axis=0)
    return best, choices


def trace(choices: Sequence[NDArray[np.intp]], total: int) -> tuple[int, ...]:
    """Read the sizes of a total back from the tables of `sums`."""
    left = total
    sizes: list[int] = []
    for choice in reversed(choices):
        size = int(choice[left])
        sizes.append(size)
        left -= size
    return tuple(reversed(sizes))
