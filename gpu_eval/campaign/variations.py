"""Shapes that the contract does not have: 1, a tile and one more or less, primes, non-square."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from gpu_eval.campaign.shapes import PlannedShape, free_dimensions, planned_shape
from gpu_eval.problems.definition import Dimension, DimensionKind, Problem
from suiteopt.errors import UserError
from suiteopt.matrix.schema import OperationClass

_Sizes = dict[str, int]


def vary_shape(problem: Problem, planned: PlannedShape, recipe: str) -> PlannedShape | None:
    """Return a variation of a planned shape, of scope ``other``.

    Parameters
    ----------
    problem : Problem
    planned : PlannedShape
        What `plan_shape` gave.
    recipe : str
        ``one`` (parallel dimensions 1), ``tile+1``, ``tile-1`` (tiled dimensions), ``prime`` (a
        prime of its own for every dimension) or ``non-square``. Fixed dimensions never change.
        Fused problems, which processors run at their least sizes, have the next larger such size
        where there is no smaller one.

    Returns
    -------
    PlannedShape or None
        None where the variation is the planned shape itself or none that the problem can have.

    Raises
    ------
    UserError
        If there is no such recipe.
    """
    if recipe not in SHAPE_RECIPES:
        raise UserError(
            f"there is no shape recipe '{recipe}'; choose one of {', '.join(SHAPE_RECIPES)}"
        )
    before = planned.sizes(problem)
    free = free_dimensions(problem)
    after = {**before, **SHAPE_RECIPES[recipe](free, before)}
    if problem.operation_class is OperationClass.FUSED and recipe in _BY_TILES:
        after = _raised(free, after)
    return None if after == before else planned_shape(problem, after, recipe)


def shape_variations(problem: Problem, planned: PlannedShape) -> tuple[PlannedShape, ...]:
    """Return every variation of `SPREAD` that the problem can have, each shape once."""
    different: dict[tuple[int, ...], PlannedShape] = {}
    for recipe in SPREAD:
        varied = vary_shape(problem, planned, recipe)
        if varied is not None:
            different.setdefault(tuple(varied.sizes(problem).values()), varied)
    return tuple(different.values())


def _raised(free: tuple[Dimension, ...], sizes: Mapping[str, int]) -> _Sizes:
    """Add whole tiles to what is below its minimum: it stays what it was modulo the tile."""
    raised = dict(sizes)
    for d in free:
        short = max(d.minimum - sizes[d.name], 0)
        raised[d.name] += -(-short // d.tile) * d.tile
    return raised


def _one(free: tuple[Dimension, ...], sizes: Mapping[str, int]) -> _Sizes:
    parallel = [d for d in free if d.kind is DimensionKind.PARALLEL]
    return {d.name: d.minimum for d in parallel or free}


def _sliver(free: tuple[Dimension, ...], sizes: Mapping[str, int]) -> _Sizes:
    """Leave less than a block of everything: primes up to a quarter of the tile, or up to 7."""
    parallel = [d for d in free if d.kind is DimensionKind.PARALLEL] or list(free)
    varied: _Sizes = {}
    for d in parallel:
        most = max(min(max(d.tile // 4, 7), d.tile - 1), d.minimum)
        taken = set(varied.values())
        primes = (p for p in range(min(most, sizes[d.name]), 1, -1) if _is_prime(p))
        varied[d.name] = max(next((p for p in primes if p not in taken), 1), d.minimum)
    return varied


def _tile_and_one(free: tuple[Dimension, ...], sizes: Mapping[str, int]) -> _Sizes:
    return {
        d.name: max(_whole_tiles(d, sizes) - _tile(d, sizes), _tile(d, sizes)) + 1
        for d in free
        if d.tile > 1
    }


def _tile_less_one(free: tuple[Dimension, ...], sizes: Mapping[str, int]) -> _Sizes:
    return {d.name: _whole_tiles(d, sizes) - 1 for d in free if d.tile > 1}


def _tile(dimension: Dimension, sizes: Mapping[str, int]) -> int:
    """Return the tile, or its largest divisor that the size here still holds."""
    size = sizes[dimension.name]
    return next(t for t in range(min(dimension.tile, size), 0, -1) if dimension.tile % t == 0)


def _whole_tiles(dimension: Dimension, sizes: Mapping[str, int]) -> int:
    tile = _tile(dimension, sizes)
    return sizes[dimension.name] // tile * tile


def _prime(free: tuple[Dimension, ...], sizes: Mapping[str, int]) -> _Sizes:
    varied: _Sizes = {}
    for d in free:
        taken = set(varied.values())
        primes = (p for p in range(sizes[d.name], 1, -1) if _is_prime(p) and p not in taken)
        prime = next(primes, None)
        if prime is not None and prime >= d.minimum:
            varied[d.name] = prime
    return varied


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % d for d in range(2, int(number**0.5) + 1))


def _non_square(free: tuple[Dimension, ...], sizes: Mapping[str, int]) -> _Sizes:
    """Shrink all but the first of dimensions that are equal by contract; else swap two."""
    groups: dict[tuple[int, int], list[Dimension]] = {}
    for d in free:
        groups.setdefault((d.size, sizes[d.name]), []).append(d)
    varied = {
        d.name: _shorter(d, sizes[d.name], index)
        for equal in groups.values()
        for index, d in enumerate(equal[1:], start=2)
    }
    parallel = [d for d in free if d.kind is DimensionKind.PARALLEL]
    if not varied and len(parallel) > 1:
        a, b = sorted(parallel, key=lambda d: (-sizes[d.name], d.name))[:2]
        varied = {a.name: sizes[b.name], b.name: sizes[a.name]}
    return varied


def _shorter(dimension: Dimension, size: int, parts: int) -> int:
    """Return one more than a part of a size, or of a size that must not shrink a tile more."""
    if size // parts + 1 < dimension.minimum == size:
        return size + dimension.tile
    return max(size // parts + 1, dimension.minimum)


_BY_TILES = frozenset({"tile+1", "tile-1"})

SPREAD = ("tile+1", "prime", "one", "tile-1", "non-square")
"""What pools take in order. Witness pools draw from it too: a longer list is another pool."""

SHAPE_RECIPES: Mapping[str, Callable[[tuple[Dimension, ...], Mapping[str, int]], _Sizes]] = (
    MappingProxyType(
        {
            "tile+1": _tile_and_one,
            "prime": _prime,
            "one": _one,
            "tile-1": _tile_less_one,
            "non-square": _non_square,
            "sliver": _sliver,
        }
    )
)
