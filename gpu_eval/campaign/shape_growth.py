"""How dimensions shrink and grow together under the limits of a profile."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gpu_eval.campaign.cell_cost import (
    held_elements,
    output_elements,
    seconds,
    tensor_elements,
    work,
)
from gpu_eval.campaign.shape_limits import Limits
from gpu_eval.problems.definition import Dimension, DimensionKind, Problem
from gpu_eval.problems.tensors import dimensions, reduction_length
from suiteopt.errors import UserError

_STEPS = 1 << 20


def free_dimensions(problem: Problem) -> tuple[Dimension, ...]:
    """Return the dimensions that may be shrunk or varied."""
    return tuple(d for d in problem.dimensions if not d.fixed)


def _elements(problem: Problem, values: Mapping[str, int]) -> int:
    """Return the elements of all tensors, one that only stands in the middle included."""
    further = held_elements(problem, values) - output_elements(problem, values)
    return tensor_elements(problem, values) + further


@dataclass(frozen=True)
class Group:
    """Free dimensions that have one size: the contract's, a common tile and minimum."""

    names: tuple[str, ...]
    size: int
    tile: int
    minimum: int

    def least(self, floor: int) -> int:
        """Return the smallest size that is congruent to the contract's and not below floor."""
        lowest = min(max(self.minimum, floor), self.size)
        return lowest + (self.size - lowest) % self.tile

    def share(self, share: int) -> int:
        """Return the largest congruent size within ``share / _STEPS`` of the contract's."""
        return self.size + (self.size * share // _STEPS - self.size) // self.tile * self.tile


def groups_of(problem: Problem, *, parted: bool = False) -> tuple[list[Group], list[Group]]:
    """Return the parallel dimensions, those of equal size together, and the reduced ones.

    Parameters
    ----------
    problem : Problem
    parted : bool
        Whether those together have one minimum, too: an image's axes without batch and channels.
    """
    free = free_dimensions(problem)
    equal: dict[tuple[int, int], list[Dimension]] = {}
    for d in free:
        if d.kind is DimensionKind.PARALLEL:
            equal.setdefault((d.size, d.minimum if parted else 0), []).append(d)
    parallel = [
        Group(
            tuple(d.name for d in members),
            size,
            math.lcm(*(d.tile for d in members)),
            max(d.minimum for d in members),
        )
        for (size, _), members in equal.items()
    ]
    reduced = [
        Group((d.name,), d.size, d.tile, d.minimum) for d in free if d.kind is DimensionKind.REDUCED
    ]
    return parallel, reduced


def relaxed(
    problem: Problem, limits: Limits, parallel: list[Group], reduced: list[Group]
) -> "Planner":
    """Replace tiles of reduced dimensions by divisors until a shape is affordable."""
    reduced = list(reduced)
    while True:
        planner = Planner(problem, limits, [*parallel, *reduced])
        coarse = [index for index, group in enumerate(reduced) if group.tile > 1]
        if planner.affordable(planner.smallest()) or not coarse:
            return planner
        worst = max(coarse, key=lambda index: (reduced[index].least(1), index))
        tile = reduced[worst].tile
        divisor = next(d for d in range(tile // 2, 0, -1) if tile % d == 0)
        reduced[worst] = replace(reduced[worst], tile=divisor)


class Planner:
    """The sizes that groups of dimensions may take, and how they grow under limits.

    Parameters
    ----------
    problem : Problem
    limits : Limits
    groups : sequence of Group
        What may be shrunk; all other dimensions keep the contract's size.
    """

    def __init__(self, problem: Problem, limits: Limits, groups: Sequence[Group]) -> None:
        self._problem = problem
        self._limits = limits
        self._groups = {group.names: group for group in groups}
        shortest = {
            d.name: d.size if d.fixed else min(max(d.minimum, 2), d.size)
            for d in problem.dimensions
        }
        self._max_reduction = max(limits.max_reduction, self._terms(shortest))

    def affordable(self, sizes: Mapping[str, int]) -> bool:
        """Whether a shape is within the limits; one that the expressions refuse is not."""
        try:
            values = dimensions(self._problem, sizes)
            outputs = held_elements(self._problem, values)
            if output_elements(self._problem, values) < 1 or not self._within_cost(values):
                return False
        except UserError:
            return False
        within = 0 < outputs <= self._limits.max_outputs
        return within and 0 < self._terms(sizes) <= self._max_reduction

    def _within_cost(self, values: Mapping[str, int]) -> bool:
        elements, most = self._limits.max_elements, self._limits.max_work
        if elements is not None and _elements(self._problem, values) > elements:
            return False
        if most is not None and work(self._problem, values) > most:
            return False
        longest = self._limits.max_seconds
        return longest is None or seconds(self._problem, values) <= longest

    def growing_from(self, sizes: Mapping[str, int]) -> "Planner":
        """Return a planner for growing parallel dimensions from a shape."""
        elements = _elements(self._problem, dimensions(self._problem, sizes))
        limits = self._limits.growing_from(elements)
        return Planner(self._problem, limits, list(self._groups.values()))

    def smallest(self) -> dict[str, int]:
        """Return the contract with all groups at their least.

        Where it is affordable, that is at least 2, and more than one tile: a wrong stride or
        block index does not show otherwise.
        """
        groups = list(self._groups.values())
        sizes = {d.name: d.size for d in self._problem.dimensions}
        for group in groups:
            sizes |= dict.fromkeys(group.names, group.least(1))
        wanted = [(group, 2) for group in groups]
        wanted += [(group, group.tile + 1) for group in groups if group.tile > 1]
        for group, floor in wanted:
            larger = sizes | dict.fromkeys(group.names, group.least(floor))
            if self.affordable(larger):
                sizes = larger
        return sizes

    def grow(self, start: Mapping[str, int], growing: Sequence[tuple[str, ...]]) -> dict[str, int]:
        """Grow groups as far as the limits allow, all in one proportion to the contract."""
        groups = [self._groups[names] for names in growing]
        low, high = 0, _STEPS
        while low < high:
            middle = (low + high + 1) // 2
            if self.affordable(_at_share(start, groups, middle)):
                low = middle
            else:
                high = middle - 1
        sizes = _at_share(start, groups, low)
        # What one proportion leaves over goes to single groups, the most shrunk one first.
        while (larger := self._next(sizes, groups)) is not None:
            sizes = larger
        return sizes

    def unequal(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """Part groups that are equal here and not in the contract, where there is room."""
        result = dict(sizes)
        ordered = sorted(self._groups.values(), key=lambda g: (g.size, g.names))
        for index, small in enumerate(ordered):
            for large in ordered[index + 1 :]:
                if result[small.names[0]] != result[large.names[0]] or small.size == large.size:
                    continue
                larger = _stepped(result, large)
                less = result[small.names[0]] - small.tile
                if larger is not None and self.affordable(larger):
                    result = larger
                elif less >= small.least(2):
                    result |= dict.fromkeys(small.names, less)
        return result

    def _next(self, sizes: Mapping[str, int], groups: Sequence[Group]) -> dict[str, int] | None:
        for group in sorted(groups, key=lambda g: (sizes[g.names[0]] / g.size, g.names)):
            larger = _stepped(sizes, group)
            if larger is not None and self.affordable(larger):
                return larger
        return None

    def _terms(self, sizes: Mapping[str, int]) -> int:
        try:
            return reduction_length(self._problem, dimensions(self._problem, sizes))
        except UserError:
            return 0


def _at_share(start: Mapping[str, int], groups: Sequence[Group], share: int) -> dict[str, int]:
    sizes = dict(start)
    for group in groups:
        sizes |= {name: max(sizes[name], group.share(share)) for name in group.names}
    return sizes


def _stepped(sizes: Mapping[str, int], group: Group) -> dict[str, int] | None:
    size = sizes[group.names[0]] + group.tile
    return {**sizes, **dict.fromkeys(group.names, size)} if size <= group.size else None
