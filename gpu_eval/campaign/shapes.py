"""Which shape a problem is measured at: the contract's, shrunk until a cell is affordable.

Parallel dimensions shrink first, congruent to the contract modulo their tile, so that tails stay
tails; the reduction is shortened only where the limits still demand it, and the ratio is recorded.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from gpu_eval.campaign.shape_growth import (
    Limits,
    Planner,
    free_dimensions,
    groups_of,
    output_elements,
    relaxed,
)
from gpu_eval.problems.definition import DimensionKind, Problem
from gpu_eval.problems.expressions import evaluate
from gpu_eval.problems.tensors import contract, dimensions, reduction_length
from suiteopt.errors import UserError
from suiteopt.matrix.schema import ShapeScope

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
    composed : bool
        Whether the pool has the composites of `gpu_eval.campaign.composites`, in place of the
        value choices that they displace.
    problems : tuple of str
        Ids; empty for all of the corpus.
    own_limits, witness_limits : Limits or None
        For the benchmark's own draws with their scalings, and for witnesses, where they differ.
    full_limits : Limits or None
        For own draws and `full_witnesses` witnesses of a problem whose reductions the limits above
        would shorten.
    full_witnesses : int
    hashed_elements : int or None
        Own draws of tensors with more elements take the benchmark's distribution from integer
        hashing on the device, not from torch's CPU generator; their recipe says so.
    block : int
        Implementations in one task. Large where making an input costs more than running on it.
    jobs : int
        Processes that take turns on a GPU, unless the user says otherwise.
    lanes : int
        Runs that each of them has under way on a GPU at the same time: the grid of one alone may
        leave most of it idle.
    sites : int or None
        At how many sites of a substrate each rule is applied; None for all.
    """

    name: str
    limits: Limits
    candidates: int
    witnesses: int
    scalings: int
    shapes: int
    parameters: int
    composed: bool = False
    problems: tuple[str, ...] = ()
    own_limits: Limits | None = None
    witness_limits: Limits | None = None
    full_limits: Limits | None = None
    full_witnesses: int = 0
    hashed_elements: int | None = None
    block: int = 24
    jobs: int = 4
    lanes: int = 1
    sites: int | None = None


_CPU_PROBLEMS = (
    "level1/001",
    "level1/019",
    "level1/023",
    "level1/040",
    "level1/042",
    "level1/050",
)
"""What the small profiles measure, whatever else the corpus holds: their matrices stay the same."""

_CONTRACT = Limits(
    max_outputs=1 << 40,
    # 16 MiB of fp32 terms: what controls that add one term after the other can afford.
    max_reduction=1 << 22,
    # 1 GiB and what comes with it.
    max_elements=(1 << 28) + (1 << 25),
    max_work=7 * 10**10,
)
"""Cells of GPUs: reductions in full wherever these allow it, see `Limits.target_elements`."""

PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        "demo": Profile(
            "demo",
            Limits(4096, 256),
            candidates=16,
            witnesses=8,
            scalings=3,
            shapes=2,
            parameters=3,
            problems=_CPU_PROBLEMS,
        ),
        "quick": Profile(
            "quick",
            Limits(4096, 512),
            candidates=24,
            witnesses=16,
            scalings=4,
            shapes=3,
            parameters=4,
            problems=_CPU_PROBLEMS,
        ),
        "full": Profile("full", Limits(16384, 4096), 48, 24, scalings=5, shapes=5, parameters=8),
        "contract": Profile(
            "contract",
            replace(_CONTRACT, max_work=2 * 10**9, target_elements=1 << 23),
            candidates=48,
            witnesses=16,
            scalings=5,
            # All other shapes are composites.
            shapes=0,
            parameters=4,
            composed=True,
            own_limits=replace(
                _CONTRACT, max_work=9 * 10**9, target_elements=(1 << 27) + (1 << 24)
            ),
            witness_limits=replace(_CONTRACT, max_work=2 * 10**9, target_elements=1 << 23),
            # A square product of 4096 takes 20 ms a cell: eight inputs of it, not all.
            full_limits=replace(_CONTRACT, target_elements=1 << 23),
            full_witnesses=3,
            # Beyond this torch's generator, a processor's, takes longer than all that is run on it.
            hashed_elements=1 << 24,
            block=64,
            # While some make inputs or wait for a new context, others keep the GPU busy.
            jobs=4,
            lanes=8,
            # At contract shapes a second site of a rule costs what another problem would.
            sites=1,
        ),
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
    parallel, reduced = groups_of(problem)
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
    if profile.full_limits is None or planned.scope is ShapeScope.CONTRACT:
        return planned
    wider = plan_shape(problem, profile.full_limits)
    return wider if wider.scope is ShapeScope.CONTRACT else planned


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
