"""One member of a pool, and what follows from its recipes: needs, exactness, hash."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gpu_eval.campaign.shapes import CONTRACT_SHAPE, PlannedShape
from gpu_eval.problems.definition import Problem
from gpu_eval.problems.tensors import reduction_length
from suiteopt.inputs.parameters import BENCHMARK, parameter_values
from suiteopt.inputs.recipes import RECIPES, integer_bound
from suiteopt.matrix.schema import Need, Role, ShapeScope

OWN = "own"
SCALED = "scaled"
HASHED = "hash"
"""Value of an own draw's argument ``draw``: the same distribution by integer hashing."""
EXACT_SUM = 1 << 24
"""Up to this magnitude all integers are fp32 numbers."""


@dataclass(frozen=True)
class PoolInput:
    """One input of a problem, before it is made.

    Attributes
    ----------
    id : str
        Unique in the corpus: ``<problem>:<value recipe>[:<parameter recipe>][@<shape recipe>]``.
    problem : str
    role : Role
    value_recipe, parameter_recipe, shape_recipe : str
        Short names.
    values, parameters : mapping of str to mapping
        By tensor: ``{"name", "version", "arguments"}``, with ``structure`` (and ``classes``)
        where the contract demands one. ``own`` is the benchmark's own draw under ``seed``,
        ``scaled`` that draw times ``factor``, ``benchmark`` the own initialisation.
    shape : mapping of str to int
        Sizes of the named dimensions.
    scope : ShapeScope
    reduction_ratio : float
        Reduction length here over the contract's.
    seed : int
        For own draws what the generator is seeded with; else what the tensors' seeds derive from.
    needs : tuple of Need
        What a target must be able to carry.
    exact : bool
        Whether fp32 sums of products are exact on it, for problems with ``exact_lattice``.
    kind : str
        The mechanism aimed at; ``own`` for the own draws alone.
    """

    id: str
    problem: str
    role: Role
    value_recipe: str
    values: Mapping[str, Mapping[str, Any]]
    parameter_recipe: str
    parameters: Mapping[str, Mapping[str, Any]]
    shape_recipe: str
    shape: Mapping[str, int]
    scope: ShapeScope
    reduction_ratio: float
    seed: int
    needs: tuple[Need, ...]
    exact: bool
    kind: str


def make_input(
    problem: Problem,
    planned: PlannedShape,
    *,
    role: Role,
    kind: str,
    value_recipe: str,
    values: Mapping[str, Mapping[str, Any]],
    parameter_recipe: str = BENCHMARK,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    seed: int | None = None,
) -> PoolInput:
    """Put an input together.

    Parameters
    ----------
    parameters : mapping, optional
        Value recipe by parameter; those of ``parameter_recipe`` if not given.
    seed : int, optional
        Derived from role and id if not given.
    """
    if parameters is None:
        parameters = {
            spec.name: parameter_values(parameter_recipe, spec.role) for spec in problem.parameters
        }
    identifier = f"{problem.id}:{value_recipe}"
    if parameter_recipe != BENCHMARK:
        identifier += f":{parameter_recipe}"
    if planned.recipe != CONTRACT_SHAPE:
        identifier += f"@{planned.recipe}"
    return PoolInput(
        id=identifier,
        problem=problem.id,
        role=role,
        value_recipe=value_recipe,
        values=values,
        parameter_recipe=parameter_recipe,
        parameters=parameters,
        shape_recipe=planned.recipe,
        shape=planned.sizes(problem),
        scope=planned.scope,
        reduction_ratio=planned.reduction_ratio,
        seed=derived_seed(role, identifier) if seed is None else seed,
        needs=_needs(values, parameter_recipe, planned),
        exact=_is_exact(problem, planned, [*values.values(), *parameters.values()]),
        kind=kind,
    )


def derived_seed(*parts: object) -> int:
    """Return a seed below 2**48, exact in every format that numbers may pass through."""
    text = "\n".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")


def recipe_of(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return a value recipe as a matrix stores it, in its present version."""
    return {"name": name, "version": RECIPES[name].version, "arguments": dict(arguments)}


def pool_hash(inputs: Iterable[PoolInput]) -> str:
    """Return the SHA-256 of a pool: ids, recipes with their versions, shapes, seeds, in order."""
    listed = [vars(pool_input) for pool_input in inputs]
    text = json.dumps(listed, sort_keys=True, separators=(",", ":"), allow_nan=False, default=dict)
    return hashlib.sha256(text.encode()).hexdigest()


def _needs(
    values: Mapping[str, Mapping[str, Any]], parameter_recipe: str, planned: PlannedShape
) -> tuple[Need, ...]:
    names = [recipe["name"] for recipe in values.values()]
    needed = {
        Need.VALUES: any(name != OWN for name in names),
        Need.PARAMETERS: parameter_recipe != BENCHMARK,
        Need.SHAPES: planned.recipe != CONTRACT_SHAPE,
        Need.NONFINITE: any(name in RECIPES and RECIPES[name].nonfinite for name in names),
    }
    return tuple(need for need, wanted in needed.items() if wanted)


def _is_exact(
    problem: Problem, planned: PlannedShape, recipes: Iterable[Mapping[str, Any]]
) -> bool:
    """Whether every sum of products of all tensors stays among the integers up to 2**24."""
    if not problem.exact_lattice:
        return False
    largest = max(reduction_length(problem, planned.dimensions), 1)
    for recipe in recipes:
        name = recipe["name"]
        bound = integer_bound(name, recipe["arguments"]) if name in RECIPES else None
        if bound is None:
            return False
        # A tensor that is added (a bias) counts as a factor too: x + y <= x * y from 2 on.
        largest *= max(bound, 2)
    return largest <= EXACT_SUM
