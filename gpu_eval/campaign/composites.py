"""Composite candidates: several properties in one input, for problems where none alone suffices.

A suite of two inputs has no room for one property each. Where the choice spends a member on
another shape, for a launch that fails there, that member should see most other faults as well;
where sums are long, one input should show the epsilon, the parameters, the range of fp16 and every
lane of a warp at a tolerance that exact sums keep small.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from gpu_eval.campaign.shapes import PlannedShape
from gpu_eval.campaign.variations import vary_shape
from gpu_eval.problems.definition import Problem
from suiteopt.inputs.parameters import BENCHMARK
from suiteopt.matrix.schema import OperationClass

# Each word is values[:parameters][@shape], as ids of inputs are written.
_SHAPES = (
    "normal@tile+1 heavy-tail@prime normal@one heavy-tail@one heavy-tail@sliver few-8@sliver "
    "heavy-tail@tile-1"
)
_LOGITS = "sunken sunken-flat below-heavy"
_SUMS = "ends-heavy lanes ends-normal"

_COMPOSITES: Mapping[OperationClass, str] = MappingProxyType(
    {
        OperationClass.ELEMENTWISE: (
            "few-8@tile+1 heavy-tail@prime normal@one few-8@one few-8@sliver heavy-tail@sliver "
            "normal@tile-1"
        ),
        OperationClass.POOLING: _SHAPES,
        OperationClass.MATMUL: (
            "ends-heavy lanes ends-lattice lattice-3@tile+1 normal@prime normal@one ends-heavy@one "
            "heavy-tail@sliver lattice-3@sliver heavy-tail@tile-1"
        ),
        OperationClass.CONVOLUTION: (
            "ends-heavy normal@tile+1 heavy-tail@prime normal@one heavy-tail:affine@one "
            "heavy-tail:affine@sliver few-8@sliver heavy-tail@tile-1"
        ),
        OperationClass.SOFTMAX: (
            f"{_LOGITS} normal@tile+1 hot-last@prime heavy-tail@one sunken@one sunken@sliver "
            "below-heavy@sliver heavy-tail@tile-1"
        ),
        OperationClass.NORMALIZATION: (
            "lanes-wide lanes-wide:affine lanes-wide:lattice lattice-small lattice-small:lattice "
            "normal@tile+1 lanes-wide@prime lanes-wide:affine@one normal@one "
            "lanes-wide@sliver heavy-tail@tile-1"
        ),
        OperationClass.REDUCTION: f"{_SUMS} {_SHAPES}",
        OperationClass.SCAN: f"{_SUMS} {_SHAPES.replace('few-8', 'sparse-16')}",
        OperationClass.ARGUMENT_REDUCTION: _SHAPES,
        OperationClass.LOSS: (
            f"{_LOGITS} normal@tile+1 heavy-tail@prime lattice-3@one sunken@one sunken@sliver "
            "few-8@sliver heavy-tail@tile-1"
        ),
        OperationClass.ATTENTION: f"{_LOGITS} {_SHAPES}",
    }
)
_OF_PRODUCTS = (
    "near-one@tile+1 few-factors@prime near-one@one few-factors@one few-factors@sliver "
    "nearer-minus-one@sliver signs@tile-1"
)

_FEWEST_SHAPES = 3
_FURTHER = "heavy-tail@non-square normal@non-square"
"""For problems without tiles, or of which one image is all that a cell may cost."""

DISPLACED = frozenset(
    {
        "cancel",
        "constant-negative",
        "impulse-first",
        "lattice-8",
        "pairs",
        "powers",
        "residue",
        "sorted-down",
    }
)
"""Value choices that make room: on an H200 matrix of 14 problems no fault hung on one of them.

None was among the three or fewer killers of any fault, at calibrated tolerances or at 1e-4, and
all missed more than the median choice.
"""


def composites(problem: Problem, planned: PlannedShape) -> Iterator[tuple[str, str, PlannedShape]]:
    """Yield value choice, parameter recipe and shape of the composites that a problem can have.

    Each once: a problem without parameters has them without, and of two shape recipes that give it
    the same shape the first is taken.

    Parameters
    ----------
    problem : Problem
    planned : PlannedShape
        What `plan_shape` gave; composites that do not vary the shape have it.
    """
    words = _COMPOSITES.get(problem.operation_class, _SHAPES)
    words = _OF_PRODUCTS if problem.multiplies else words
    found = list(_made(problem, planned, words))
    varied = {tuple(s.sizes(problem).values()) for _, _, s in found if s is not planned}
    yield from found
    if len(varied) < _FEWEST_SHAPES:
        yield from list(_made(problem, planned, f"{words} {_FURTHER}"))[len(found) :]


def _made(
    problem: Problem, planned: PlannedShape, words: str
) -> Iterator[tuple[str, str, PlannedShape]]:
    seen = set()
    for word in words.split():
        rest, _, recipe = word.partition("@")
        values, _, parameters = rest.partition(":")
        shape = vary_shape(problem, planned, recipe) if recipe else planned
        if shape is None:
            continue
        parameters = (problem.parameters and parameters) or BENCHMARK
        key = (values, parameters, tuple(shape.sizes(problem).values()))
        if key not in seen:
            seen.add(key)
            yield values, parameters, shape
