"""The witness pool: inputs of a randomised generator that selection never sees.

What is drawn at random is not only the values but the recipe: distribution, scale, offset,
sparsity and row structure, for every tensor its own, from a hash of the problem's id. The
generator shares no choice and no seed with the candidate pool.
"""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

from gpu_eval.campaign.pool_input import PoolInput, make_input, recipe_of
from gpu_eval.campaign.shapes import PlannedShape, Profile, full_shape, plan_shape, spread_shape
from gpu_eval.campaign.tensor_values import fitted_recipe
from gpu_eval.campaign.variations import shape_variations
from gpu_eval.problems.definition import ParameterRole, ParameterSpec, Problem, Structure
from gpu_eval.problems.tensors import shape_of
from suiteopt.inputs.parameters import BENCHMARK
from suiteopt.matrix.schema import Role

VERSION = 1
"""Part of every draw: another generator is another version."""

OTHER_SHAPES_ONE_IN = 8
RANDOM_PARAMETERS = "random"

_Choice = TypeVar("_Choice")
_Arguments = dict[str, Any]


class _Draws:
    """A stream of random integers from a text: the hash of the text and a counter."""

    def __init__(self, *parts: object) -> None:
        self._text = "\n".join(str(part) for part in ("witness", VERSION, *parts))
        self._count = 0

    def between(self, low: int, high: int) -> int:
        """Return an integer from low to high, both included."""
        self._count += 1
        digest = hashlib.sha256(f"{self._text}\n{self._count}".encode()).digest()
        return low + int.from_bytes(digest[:8], "big") % (high - low + 1)

    def choice(self, options: Sequence[_Choice]) -> _Choice:
        return options[self.between(0, len(options) - 1)]


def witness_pool(problem: Problem, profile: Profile) -> tuple[PoolInput, ...]:
    """Return the witness inputs of a problem; deterministic.

    Kinds take turns, so that eight inputs hold all of them. One input in eight has another
    shape, the others the planned one; where there are parameters, every second input draws them
    at random too. Of a problem that multiplies, every second input holds factors about one.

    Parameters
    ----------
    problem : Problem
    profile : Profile

    Returns
    -------
    tuple of PoolInput
        ``profile.witnesses`` of role witness.
    """
    planned = plan_shape(problem, profile.witness_limits or profile.limits)
    planned = spread_shape(problem, planned, profile)
    full = full_shape(problem, planned, profile)
    others = [v for v in shape_variations(problem, planned) if v.recipe != "one"]
    kinds = list(_KINDS)
    first = _Draws(problem.id).between(0, len(kinds) - 1)
    pool = []
    for index in range(profile.witnesses):
        kind = kinds[(first + index) % len(kinds)]
        draws = _Draws(problem.id, index)
        odd_shape = others and index % OTHER_SHAPES_ONE_IN == OTHER_SHAPES_ONE_IN - 1
        wanted = full if index < profile.full_witnesses else planned
        shape = draws.choice(others) if odd_shape else wanted
        random = bool(problem.parameters) and index % 2 == 1
        pool.append(
            make_input(
                problem,
                shape,
                role=Role.WITNESS,
                kind=kind,
                value_recipe=f"witness-{index}-{kind}",
                values=_values(problem, shape, kind, draws, problem.multiplies and index % 2 == 1),
                parameter_recipe=RANDOM_PARAMETERS if random else BENCHMARK,
                parameters=_parameters(problem, draws) if random else None,
            )
        )
    return tuple(pool)


def _scaled(draws: _Draws) -> _Arguments:
    base = draws.choice(("normal", "signed-uniform", "uniform", "heavy-tail"))
    return {"base": base, "exponent": draws.between(-8, 6)}


def _shifted(draws: _Draws) -> _Arguments:
    base = draws.choice(("normal", "signed-uniform", "uniform"))
    offset = draws.between(2, 300) * draws.choice((-1, 1))
    return {"base": base, "exponent": draws.between(-3, 3), "offset": offset}


def _sparse(draws: _Draws) -> _Arguments:
    base = draws.choice(("normal", "heavy-tail", "signed-uniform"))
    return {"base": base, "exponent": draws.between(-2, 5), "one_in": draws.between(2, 40)}


def _rows(draws: _Draws) -> _Arguments:
    base = draws.choice(("normal", "signed-uniform"))
    return {"base": base, "exponent": draws.between(-6, 2), "levels": draws.between(1, 100)}


def _lattice(draws: _Draws) -> _Arguments:
    base = draws.choice(("lattice", "residue", "few"))
    return {"base": base, "exponent": draws.between(-1, 2), "offset": draws.between(-4, 4)}


def _hot(draws: _Draws) -> _Arguments:
    return {"base": "hot", "exponent": draws.between(-2, 1), "offset": draws.between(-8, 8)}


def _wide(draws: _Draws) -> _Arguments:
    base = draws.choice(("octaves", "heavy-tail", "powers"))
    return {"base": base, "exponent": draws.between(-4, 3), "one_in": draws.between(1, 3)}


_KINDS: Mapping[str, Callable[[_Draws], _Arguments]] = MappingProxyType(
    {
        "scaled": _scaled,
        "shifted": _shifted,
        "sparse": _sparse,
        "rows": _rows,
        "lattice": _lattice,
        "hot": _hot,
        "wide": _wide,
    }
)


_REACH = {
    "few": 1,
    "heavy-tail": 8,
    "hot": 5,
    "lattice": 2,
    "normal": 2,
    "octaves": 13,
    "powers": 3,
    "residue": 6,
}
"""The power of two that a base's values reach; 0 for the others."""


def _about_one(arguments: _Arguments, draws: _Draws) -> _Arguments:
    """Turn what a kind drew into factors about 1 or -1, long products of which stay in range."""
    exponent = draws.between(-9, -5) - _REACH.get(arguments["base"], 0)
    return arguments | {"exponent": exponent, "offset": draws.choice((-1, 1)), "levels": 0}


def _values(
    problem: Problem, shape: PlannedShape, kind: str, draws: _Draws, factors: bool
) -> dict[str, dict[str, Any]]:
    values = {}
    for spec in problem.inputs:
        arguments = _KINDS[kind](draws)
        if factors:
            arguments = _about_one(arguments, draws)
        if spec.structure in (Structure.SIGNS, Structure.MASK):
            # Only the sign of these counts: about zero, or all would be the same.
            arguments = {"base": "normal", "offset": draws.between(-1, 1)}
        if "one_in" in arguments:
            # A short vector (a diagonal) must not be thinned out to nothing.
            elements = math.prod(shape_of(spec, shape.dimensions))
            arguments["one_in"] = min(arguments["one_in"], max(elements // 6, 1))
        values[spec.name] = fitted_recipe(problem, shape, spec, "blend", arguments)
    return values


def _parameters(problem: Problem, draws: _Draws) -> dict[str, dict[str, Any]]:
    return {spec.name: _parameter(spec, draws) for spec in problem.parameters}


def _parameter(spec: ParameterSpec, draws: _Draws) -> dict[str, Any]:
    match spec.role:
        case ParameterRole.SCALE:
            arguments: _Arguments = {
                "sixteenths": draws.between(18, 40),
                "exponent": draws.between(-1, 1),
            }
            return recipe_of("away", arguments)
        case ParameterRole.WEIGHT:
            base = draws.choice(("normal", "signed-uniform", "lattice"))
            arguments = {
                "base": base,
                "exponent": draws.between(-4, 0),
                "one_in": draws.between(1, 3),
            }
        case ParameterRole.BIAS | ParameterRole.SHIFT:
            base = draws.choice(("normal", "signed-uniform", "away"))
            arguments = {
                "base": base,
                "exponent": draws.between(-2, 2),
                "offset": draws.between(-3, 3),
            }
    return recipe_of("blend", arguments)
