"""Which shape a problem is measured at: the contract's, shrunk until a cell is affordable.

Parallel dimensions shrink first, congruent to the contract modulo their tile, so that tails stay
tails; the reduction is shortened only where the limits still demand it, and the ratio is recorded.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from gpu_eval.campaign.cell_cost import output_elements
from gpu_eval.campaign.profiles import PROFILES, Profile
from gpu_eval.campaign.shape_growth import Planner, free_dimensions, groups_of, relaxed
from gpu_eval.campaign.shape_limits import Limits
from gpu_eval.problems.definition import DimensionKind, Problem
from gpu_eval.problems.expressions import evaluate
from gpu_eval.problems.tensors import contract, dimensions, reduction_length
from suiteopt.errors import UserError
from suiteopt.matrix.schema import OperationClass, ShapeScope

__all__ = [
    "CONTRACT_SHAPE",
    "PROFILES",
    "Limits",
    "PlannedShape",
    "Profile",
    "free_dimensions",
    "output_elements",
    "plan_shape",
    "planned_shape",
]

CONTRACT_SHAPE = "contract"


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
    parallel, reduced = groups_of(problem)
    planner = Planner(problem, limits, parallel)
    start = planner.smallest()
    if problem.operation_class is OperationClass.FUSED and not planner.affordable(start):
        # Batch, channels and extents of one size cannot all stay equal on a processor.
        parallel, _ = groups_of(problem, parted=True)
        planner = Planner(problem, limits, parallel)
        start = planner.smallest()
    if reduced and not planner.affordable(start):
        # Divisors of a tile stand for it where the tile itself is beyond the limits.
        planner = relaxed(problem, limits, parallel, reduced)
        start = planner.grow(planner.smallest(), [g.names for g in reduced])
    planner = planner.growing_from(start)
    grown = planner.grow(start, [g.names for g in parallel])
    return _planned(problem, planner.unequal(grown), CONTRACT_SHAPE)


def full_shape(problem: Problem, planned: PlannedShape, profile: Profile) -> PlannedShape:
    """Return a shape with the contract's reductions where the profile affords one, else the given.

    Parameters
    ----------
    problem : Problem
    planned : PlannedShape
        What narrower limits allow.
    profile : Profile
    """
    return _first_full(problem, planned, (profile.spread_limits, profile.full_limits))


def spread_shape(problem: Problem, planned: PlannedShape, profile: Profile) -> PlannedShape:
    """Return a shape with the contract's reductions where one is cheap, else the given."""
    return _first_full(problem, planned, (profile.spread_limits,))


def _first_full(
    problem: Problem, planned: PlannedShape, limits: tuple[Limits | None, ...]
) -> PlannedShape:
    if planned.scope is ShapeScope.CONTRACT:
        return planned
    wider = (plan_shape(problem, wide) for wide in limits if wide is not None)
    return next((shape for shape in wider if shape.scope is ShapeScope.CONTRACT), planned)


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
