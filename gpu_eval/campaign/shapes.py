"""Which shape a problem is measured at: the contract's, shrunk until a cell is affordable.

Parallel dimensions shrink first, congruent to the contract modulo their tile, so that tails stay
tails; the reduction is shortened only where the limits still demand it, and the ratio is recorded.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from gpu_eval.problems.definition import Dimension, DimensionKind, Problem
from gpu_eval.problems.expressions import evaluate
from gpu_eval.problems.tensors import contract, dimensions, reduction_length, shape_of
from suiteopt.errors import UserError
from suiteopt.matrix.schema import ShapeScope

CONTRACT_SHAPE = "contract"
_STEPS = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """What a cell may cost; the smallest shape congruent to the contract may exceed it.

    Attributes
    ----------
    max_outputs : int
        Elements of all outputs together.
    max_reduction : int
        Terms that one output sums.
    """

    max_outputs: int
    max_reduction: int


@dataclass(frozen=True)
class Profile:
    """How large a campaign is.

    Attributes
    ----------
    name : str
    limits : Limits
    candidates : int
        Candidate inputs a problem (the further own draws come on top).
    witnesses : int
        Witness inputs a problem.
    scalings, shapes, parameters : int
        How many of the candidates scale an own draw, have another shape, and (where there are
        parameters) have other parameters.
    problems : tuple of str
        Ids; empty for all of the corpus.
    """

    name: str
    limits: Limits
    candidates: int
    witnesses: int
    scalings: int
    shapes: int
    parameters: int
    problems: tuple[str, ...] = ()


PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        "demo": Profile("demo", Limits(4096, 256), 16, 8, scalings=3, shapes=2, parameters=3),
        "quick": Profile("quick", Limits(4096, 512), 24, 16, scalings=4, shapes=3, parameters=4),
        "full": Profile("full", Limits(16384, 4096), 48, 24, scalings=5, shapes=5, parameters=8),
    }
)


@dataclass(frozen=True)
class PlannedShape:
    """A shape to measure at.

    Attributes
    ----------
    dimensions : mapping of str to int
        Dimensions, integer scalars and derived sizes.
    scope : ShapeScope
        Contract (reduced dimensions full), profile (shortened) or other (a variation).
    reduction_ratio : float
        Reduction length here over the contract's.
    recipe : str
        ``contract``, or the name of a variation.
    """

    dimensions: Mapping[str, int]
    scope: ShapeScope
    reduction_ratio: float
    recipe: str = CONTRACT_SHAPE

    def sizes(self, problem: Problem) -> dict[str, int]:
        """Return the sizes of the problem's dimensions alone, as a matrix stores a shape."""
        return {d.name: self.dimensions[d.name] for d in problem.dimensions}


def plan_shape(problem: Problem, limits: Limits) -> PlannedShape:
    """Choose the shape of the contract's inputs: as large as the limits allow.

    Sizes grow together, in proportion to the contract's, from the smallest congruent ones (at
    least 2, and more than one tile, where that is affordable). Parallel dimensions that are equal
    in the contract stay equal, since swapping them is no fault there; dimensions that differ in
    the contract differ here where the limits leave room for it.

    Parameters
    ----------
    problem : Problem
    limits : Limits
        A reduction of fixed dimensions alone is never shortened, whatever the limit.
    """
    parallel, reduced = _groups(problem)
    planner = _Planner(problem, limits, parallel)
    start = planner.smallest()
    if reduced and not planner.affordable(start):
        # Divisors of a tile stand for it where the tile itself is beyond the limits.
        planner = _relax(problem, limits, parallel, reduced)
        start = planner.grow(planner.smallest(), [g.names for g in reduced])
    grown = planner.grow(start, [g.names for g in parallel])
    return _planned(problem, planner.unequal(grown), CONTRACT_SHAPE)


def free_dimensions(problem: Problem) -> tuple[Dimension, ...]:
    """Return the dimensions that may be shrunk or varied."""
    return tuple(d for d in problem.dimensions if not d.fixed)


def output_elements(problem: Problem, values: Mapping[str, int]) -> int:
    """Return the number of elements of all outputs; ``values`` as `dimensions` gives them."""
    total = 0
    for spec in problem.outputs:
        elements = 1
        for size in shape_of(spec, values):
            elements *= size
        total += elements
    return total


def planned_shape(problem: Problem, sizes: Mapping[str, int], recipe: str) -> PlannedShape | None:
    """Return a shape with its scope and ratio, or None where the problem cannot have it."""
    if any(sizes[d.name] < d.minimum for d in problem.dimensions):
        return None
    try:
        planned = _planned(problem, sizes, recipe)
        outputs = output_elements(problem, planned.dimensions)
        classes = [evaluate(t.classes, planned.dimensions) for t in problem.inputs if t.classes]
    except UserError:
        return None
    possible = outputs > 0 and planned.reduction_ratio > 0 and min(classes, default=1) > 0
    return planned if possible else None


def _planned(problem: Problem, sizes: Mapping[str, int], recipe: str) -> PlannedShape:
    values = dimensions(problem, sizes)
    ratio = reduction_length(problem, values) / reduction_length(problem, contract(problem))
    reduced = [d for d in problem.dimensions if d.kind is DimensionKind.REDUCED]
    if recipe != CONTRACT_SHAPE:
        scope = ShapeScope.OTHER
    elif all(values[d.name] == d.size for d in reduced):
        scope = ShapeScope.CONTRACT
    else:
        scope = ShapeScope.PROFILE
    return PlannedShape(MappingProxyType(values), scope, ratio, recipe)


@dataclass(frozen=True)
class _Group:
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


def _groups(problem: Problem) -> tuple[list[_Group], list[_Group]]:
    """Return the parallel dimensions, those of equal size together, and the reduced ones."""
    free = free_dimensions(problem)
    equal: dict[int, list[Dimension]] = {}
    for d in free:
        if d.kind is DimensionKind.PARALLEL:
            equal.setdefault(d.size, []).append(d)
    parallel = [
        _Group(
            tuple(d.name for d in members),
            size,
            math.lcm(*(d.tile for d in members)),
            max(d.minimum for d in members),
        )
        for size, members in equal.items()
    ]
    reduced = [
        _Group((d.name,), d.size, d.tile, d.minimum)
        for d in free
        if d.kind is DimensionKind.REDUCED
    ]
    return parallel, reduced


def _relax(
    problem: Problem, limits: Limits, parallel: list[_Group], reduced: list[_Group]
) -> "_Planner":
    """Replace tiles of reduced dimensions by divisors until a shape is affordable."""
    reduced = list(reduced)
    while True:
        planner = _Planner(problem, limits, [*parallel, *reduced])
        coarse = [index for index, group in enumerate(reduced) if group.tile > 1]
        if planner.affordable(planner.smallest()) or not coarse:
            return planner
        worst = max(coarse, key=lambda index: (reduced[index].least(1), index))
        tile = reduced[worst].tile
        divisor = next(d for d in range(tile // 2, 0, -1) if tile % d == 0)
        reduced[worst] = replace(reduced[worst], tile=divisor)


class _Planner:
    """The sizes that groups of dimensions may take, and how they grow under limits."""

    def __init__(self, problem: Problem, limits: Limits, groups: Sequence[_Group]) -> None:
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
            outputs = output_elements(self._problem, dimensions(self._problem, sizes))
        except UserError:
            return False
        within = 0 < outputs <= self._limits.max_outputs
        return within and 0 < self._terms(sizes) <= self._max_reduction

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

    def _next(self, sizes: Mapping[str, int], groups: Sequence[_Group]) -> dict[str, int] | None:
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


def _at_share(start: Mapping[str, int], groups: Sequence[_Group], share: int) -> dict[str, int]:
    sizes = dict(start)
    for group in groups:
        sizes |= {name: max(sizes[name], group.share(share)) for name in group.names}
    return sizes


def _stepped(sizes: Mapping[str, int], group: _Group) -> dict[str, int] | None:
    size = sizes[group.names[0]] + group.tile
    return {**sizes, **dict.fromkeys(group.names, size)} if size <= group.size else None
