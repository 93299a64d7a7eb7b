"""What a candidate pool chooses from: value recipes by mechanism, and their order by class.

The order is that of worth: a profile takes as many from the front as it has room for, so that
the inputs of a smaller profile are among those of a larger one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from suiteopt.matrix.schema import OperationClass

FIT = "fit"
"""Stands for a lattice's width: as large as exact sums over the contract's reduction allow."""

SCALINGS = (3.0, 0.01, -1.0, 30.0, 1000.0)
"""Factors of the own draw; the first three are KernelBench-Verified's."""


@dataclass(frozen=True)
class ValueChoice:
    """A value recipe for each input tensor; further tensors get the last one.

    Attributes
    ----------
    name, kind : str
        Short name, and the mechanism aimed at.
    recipes : tuple of (str, mapping)
        Recipes, each with the arguments that differ from its defaults.
    """

    name: str
    kind: str
    recipes: tuple[tuple[str, Mapping[str, Any]], ...]


def _choice(name: str, kind: str, recipe: str, *others: str, **arguments: Any) -> ValueChoice:
    first = (recipe, MappingProxyType(arguments))
    return ValueChoice(name, kind, (first, *((other, MappingProxyType({})) for other in others)))


_FINITE = (
    _choice("normal", "distribution", "normal"),
    _choice("heavy-tail", "magnitude", "heavy-tail"),
    _choice("lattice-3", "lattice", "lattice"),
    _choice("sparse-16", "sparse", "sparse", "normal"),
    _choice("ramp", "index", "ramp"),
    _choice("impulse-last", "edge", "impulse", "normal"),
    _choice("tile-edges", "edge", "tile-edges", "normal"),
    _choice("offset-64", "offset", "offset", offset=64),
    _choice("hot-last", "hot", "hot", "normal", heat=10, place="last"),
    _choice("few-3", "ties", "few", count=3),
    _choice("sorted", "order", "sorted"),
    _choice("beyond-half", "range", "beyond-half"),
    _choice("below-half", "range", "below-half"),
    _choice("residue", "index", "residue"),
    _choice("alternating", "cancellation", "alternating"),
    _choice("offset-1000", "offset", "offset"),
    _choice("hot-random", "hot", "hot", "normal", count=2),
    _choice("zeros-denormals", "range", "zeros-denormals", "normal"),
    _choice("octaves", "magnitude", "octaves"),
    _choice("normal-x4", "magnitude", "normal", exponent=2),
    _choice("impulse-random", "edge", "impulse", "normal", place="random"),
    _choice("sorted-down", "order", "sorted", descending=True),
    _choice("rows-8", "offset", "rows"),
    _choice("lattice-fit", "lattice", "lattice", width=FIT),
    _choice("pairs", "cancellation", "pairs"),
    _choice("cancel", "cancellation", "pairs", "offset"),
    _choice("sparse-64", "sparse", "sparse", "normal", one_in=64),
    _choice("powers", "magnitude", "powers"),
    _choice("constant-negative", "constant", "constant", numerator=-3),
    _choice("rows-64", "offset", "rows", levels=64),
    _choice("rows-flat", "offset", "rows", spread=-8),
    _choice("lattice-8", "lattice", "lattice", width=8),
    _choice("impulse-first", "edge", "impulse", "normal", place="first"),
    _choice("offset-negative", "offset", "offset", offset=-300, spread=2),
    _choice("hot-80", "hot", "hot", "normal", heat=80, count=3),
    _choice("pairs-mirror", "cancellation", "pairs", mirror=True),
    _choice("few-8", "ties", "few", count=8),
    _choice("normal-small", "magnitude", "normal", exponent=-7),
    _choice("normal-x32", "magnitude", "normal", exponent=5),
    _choice("ramp-64", "index", "ramp", span=6),
    _choice("constant-one", "constant", "constant"),
    _choice("heavy-tail-16", "magnitude", "heavy-tail", levels=16),
    _choice("signed-uniform", "distribution", "signed-uniform"),
    _choice("sparse-4", "sparse", "sparse", "normal", one_in=4),
    _choice("lattice-1", "lattice", "lattice", width=1),
    _choice("away", "distribution", "away"),
    _choice("uniform", "distribution", "uniform"),
)
_NONFINITE = (
    _choice("infinities", "nonfinite", "nonfinite", special="inf"),
    _choice("nonfinite", "nonfinite", "nonfinite"),
)
# Long products of anything else overflow or vanish after some hundred factors.
_FACTORS = (
    _choice("signs", "index", "powers", low=0, high=0),
    _choice("near-one", "factors", "offset", offset=1, spread=-5),
    _choice(
        "few-factors", "sparse", "blend", base="signed-uniform", exponent=-3, one_in=64, offset=1
    ),
    _choice("nearer-minus-one", "factors", "offset", offset=-1, spread=-10),
)
# Of composites alone (`gpu_eval.campaign.composites`).
_COMPOSED = (
    # Variances about the usual epsilon, and (every second row) beyond fp16's largest sum.
    _choice("lattice-small", "lattice", "blend", base="lattice", exponent=-9),
    _choice("lanes", "lattice", "lanes"),
    _choice("lanes-wide", "lattice", "lanes", low=-10, high=7),
    _choice("ends-heavy", "edge", "ends"),
    _choice("ends-normal", "edge", "ends", base="normal"),
    _choice("ends-lattice", "edge", "ends", base="lattice"),
    _choice(
        "below-heavy", "range", "blend", "uniform", base="heavy-tail", exponent=6, offset=-131072
    ),
    _choice("sunken", "offset", "sunken", "uniform"),
    _choice("sunken-flat", "offset", "sunken", "uniform", exponent=-4),
)
CHOICES: Mapping[str, ValueChoice] = MappingProxyType(
    {choice.name: choice for choice in (*_FINITE, *_NONFINITE, *_FACTORS, *_COMPOSED)}
)

# What comes first for a class, by what its kernels get wrong: the pilot's winners (heavy tails,
# hot logits, sparse, large offset, lattices) where they bite, then positions and ranges.
_FIRST: Mapping[OperationClass, str] = MappingProxyType(
    {
        OperationClass.ELEMENTWISE: (
            "normal heavy-tail ramp sparse-16 zeros-denormals impulse-last few-3 beyond-half "
            "lattice-3 below-half tile-edges alternating residue octaves constant-negative"
        ),
        OperationClass.POOLING: (
            "normal ramp heavy-tail few-3 sparse-16 impulse-last sorted-down zeros-denormals "
            "beyond-half offset-negative tile-edges lattice-3 impulse-random alternating residue"
        ),
        OperationClass.MATMUL: (
            "lattice-3 heavy-tail residue lattice-fit cancel sparse-16 tile-edges impulse-last "
            "normal beyond-half ramp offset-1000 below-half octaves few-3"
        ),
        OperationClass.CONVOLUTION: (
            "heavy-tail sparse-16 normal pairs impulse-last offset-64 tile-edges residue "
            "lattice-3 ramp beyond-half below-half alternating octaves impulse-random"
        ),
        OperationClass.SOFTMAX: (
            "hot-last heavy-tail hot-random normal-x4 offset-1000 offset-negative sorted sparse-16 "
            "ramp rows-64 tile-edges few-3 hot-80 sorted-down below-half lattice-8"
        ),
        OperationClass.NORMALIZATION: (
            "offset-1000 heavy-tail rows-flat sparse-16 hot-last ramp tile-edges normal "
            "impulse-last beyond-half below-half pairs sorted lattice-8 alternating"
        ),
        OperationClass.REDUCTION: (
            "lattice-fit heavy-tail offset-1000 pairs-mirror sparse-16 impulse-last tile-edges "
            "ramp normal alternating residue beyond-half below-half octaves few-3"
        ),
        OperationClass.SCAN: (
            "lattice-3 heavy-tail pairs-mirror offset-64 impulse-first tile-edges sparse-16 ramp "
            "normal alternating residue impulse-last beyond-half below-half octaves"
        ),
        OperationClass.ARGUMENT_REDUCTION: (
            "few-3 normal ramp sorted-down constant-one sparse-16 impulse-random hot-last "
            "heavy-tail tile-edges sorted lattice-3 offset-1000 zeros-denormals beyond-half"
        ),
        OperationClass.LOSS: (
            "normal heavy-tail sparse-16 offset-64 offset-negative few-3 tile-edges ramp "
            "impulse-last hot-random alternating lattice-3 below-half octaves normal-x4 residue"
        ),
        OperationClass.ATTENTION: (
            "hot-last heavy-tail normal-x4 sparse-16 tile-edges rows-8 offset-64 ramp sorted "
            "normal lattice-3 hot-random impulse-last below-half few-3"
        ),
        OperationClass.FUSED: (
            "normal heavy-tail sparse-16 residue offset-64 tile-edges lattice-3 impulse-last pairs "
            "ramp normal-x4 beyond-half below-half hot-last alternating octaves few-3"
        ),
    }
)
_WITH_NONFINITE = frozenset({OperationClass.ELEMENTWISE, OperationClass.POOLING})

# Candidates with other parameters: which values go with which parameter recipe. `own` is the
# benchmark's first draw.
LINEAR_PARAMETERS = (
    ("lattice-3", "lattice"),
    ("normal", "affine"),
    ("residue", "index"),
    ("heavy-tail", "affine"),
    ("own", "sparse"),
    ("sparse-16", "lattice"),
    ("impulse-random", "index"),
    ("normal", "heavy-tail"),
)
AFFINE_PARAMETERS = (
    ("normal", "affine"),
    ("sparse-16", "affine"),
    ("heavy-tail", "index"),
    ("own", "affine"),
    ("lattice-3", "lattice"),
    ("offset-64", "affine"),
    ("normal", "sparse"),
    ("normal", "heavy-tail"),
)

# Candidates with other shapes: the values that go with each variation.
_SHAPE_VALUES: Mapping[str, str] = MappingProxyType(
    {
        "tile+1": "normal",
        "prime": "ramp",
        "one": "offset-64",
        "tile-1": "heavy-tail",
        "non-square": "normal",
    }
)
_SHAPE_VALUES_OF: Mapping[OperationClass, Mapping[str, str]] = MappingProxyType(
    {
        OperationClass.MATMUL: {"tile+1": "lattice-3", "prime": "normal", "tile-1": "residue"},
        OperationClass.SOFTMAX: {"prime": "hot-last", "one": "normal"},
    }
)


def shape_values(operation: OperationClass, shape_recipe: str, *, multiplies: bool = False) -> str:
    """Return the name of the value choice that goes with a variation of the shape."""
    if multiplies:
        return "near-one"
    own = _SHAPE_VALUES_OF.get(operation, {})
    return own.get(shape_recipe, _SHAPE_VALUES[shape_recipe])


def value_order(operation: OperationClass, *, multiplies: bool = False) -> tuple[ValueChoice, ...]:
    """Return all value choices that a class of operations allows, the most worthy first.

    Infinities and NaN come last, and only where a correct kernel passes them on unchanged. Where
    outputs are long products, values about one come before all others.
    """
    first = [CHOICES[name] for name in _FIRST.get(operation, "").split()]
    rest = [choice for choice in _FINITE if choice not in first]
    last = _NONFINITE if operation in _WITH_NONFINITE else ()
    return (*(_FACTORS if multiplies else ()), *first, *rest, *last)
