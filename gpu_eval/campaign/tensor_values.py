"""Value recipes fitted to a problem's tensors: what is a row, where tiles end, what is kept."""

import math
from collections.abc import Mapping
from typing import Any

from gpu_eval.campaign.choices import FIT, ValueChoice
from gpu_eval.campaign.pool_input import EXACT_SUM, HASHED, OWN, SCALED, recipe_of
from gpu_eval.campaign.shapes import PlannedShape
from gpu_eval.problems.definition import DimensionKind, Problem, Structure, TensorSpec
from gpu_eval.problems.expressions import evaluate, names
from gpu_eval.problems.tensors import contract, reduction_length, shape_of
from suiteopt.inputs.recipes import RECIPES
from suiteopt.matrix.schema import OperationClass

_IMAGES = frozenset({OperationClass.CONVOLUTION, OperationClass.POOLING, OperationClass.FUSED})
_WIDEST = 1 << 12

# Their correct kernels add up many equal terms on a background of zeros, each rounded the same
# way, so that a serial sum is off by n units and not by their root.
_NOISY = frozenset({OperationClass.SOFTMAX, OperationClass.NORMALIZATION, OperationClass.ATTENTION})


def values_of(
    problem: Problem, planned: PlannedShape, choice: ValueChoice
) -> dict[str, dict[str, Any]]:
    """Return a choice as value recipes by tensor, every argument settled."""
    fitted = {}
    for index, spec in enumerate(problem.inputs):
        recipe, arguments = choice.recipes[min(index, len(choice.recipes) - 1)]
        fitted[spec.name] = fitted_recipe(problem, planned, spec, recipe, arguments)
    return fitted


def own_values(
    problem: Problem,
    planned: PlannedShape,
    factor: float = 1.0,
    hashed_elements: int | None = None,
) -> dict[str, dict[str, Any]]:
    """Return the own draw of all tensors, or that draw times a factor.

    Tensors of more than ``hashed_elements`` elements are marked as drawn by hashing.
    """
    values: dict[str, dict[str, Any]] = {}
    for spec in problem.inputs:
        arguments: dict[str, Any] = {} if factor == 1 else {"factor": factor}
        elements = math.prod(shape_of(spec, planned.dimensions))
        if hashed_elements is not None and elements > hashed_elements:
            arguments["draw"] = HASHED
        name = OWN if factor == 1 else SCALED
        values[spec.name] = {"name": name, "version": 1, "arguments": arguments}
    return values


def fitted_recipe(
    problem: Problem,
    planned: PlannedShape,
    spec: TensorSpec,
    recipe: str,
    arguments: Mapping[str, Any],
) -> dict[str, Any]:
    """Return one tensor's value recipe with rows, tiles, widths and structure filled in."""
    settled = dict(arguments)
    if spec.structure in (Structure.SIGNS, Structure.MASK) and recipe == "uniform":
        recipe = "normal"  # what is never negative would be one sign only
    known = RECIPES[recipe].arguments
    if settled.get("width") == FIT:
        settled["width"] = _widest_lattice(problem)
    if "noise" in known and problem.operation_class in _NOISY:
        settled["noise"] = True
    rows = _reduced_axes(problem, spec)
    if "tile" in known:
        settled.setdefault("tile", _tile(problem, planned, spec, rows))
    elif problem.operation_class in _IMAGES and len(spec.shape) > 2:
        rows = 2  # a position in an image, not in one line of it
    if "axes" in known and rows != 1:
        settled.setdefault("axes", rows)
    stored = recipe_of(recipe, settled)
    if spec.structure is not Structure.NONE:
        stored["structure"] = spec.structure.value
    if spec.structure is Structure.CLASS_IDS:
        stored["classes"] = evaluate(spec.classes, planned.dimensions)
    return stored


def _reduced_axes(problem: Problem, spec: TensorSpec) -> int:
    """Return how many trailing dimensions are summed over together: a row; at least one."""
    reduced = {d.name for d in problem.dimensions if d.kind is DimensionKind.REDUCED}
    axes = 0
    for text in reversed(spec.shape):
        if names(text) and not names(text) & reduced:
            break
        axes += 1
    # A column vector, of shape (k, 1), is one row; any other tensor has more than one.
    most = len(spec.shape) if spec.shape and not names(spec.shape[-1]) else len(spec.shape) - 1
    return axes if 0 < axes <= most else 1


def _tile(problem: Problem, planned: PlannedShape, spec: TensorSpec, axes: int) -> int:
    """Return the tile of a tensor's last dimension, or a quarter of a row where it is no part."""
    if not spec.shape:
        return 2
    length = 1
    for size in shape_of(spec, planned.dimensions)[-axes:]:
        length *= size
    tiles = [d.tile for d in problem.dimensions if d.name in names(spec.shape[-1])]
    tile = max(tiles, default=1)
    if 1 < tile <= length // 2:
        return tile
    return max(2, 1 << max(length // 4, 1).bit_length() - 1)


def _widest_lattice(problem: Problem) -> int:
    """Return the width at which sums of products over the contract's reduction stay exact."""
    terms = max(reduction_length(problem, contract(problem)), 1)
    factors = max(len(problem.inputs), 2)
    fits = (w for w in range(_WIDEST, 1, -1) if terms * w**factors <= EXACT_SUM)
    return next(fits, 1)
