"""Sizes of named tensors, the rounding-model floor of each statistic, values behind indices."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from gpu_eval.problems import expressions
from gpu_eval.problems.definition import ParameterSpec, Problem, Tensors, TensorSpec
from suiteopt.errors import UserError
from suiteopt.matrix.schema import OWN_STATISTICS, Statistic

if TYPE_CHECKING:
    from torch import Tensor

FLOOR_CONSTANT = 1.0
"""c of the rounding model."""

UNIT_ROUNDOFF = 2.0**-24
"""u: half the distance from 1 to the next fp32 number."""

UNDERFLOW_UNIT = 2.0**-150
"""Half of fp32's smallest denormal: what a rounding costs near zero, whatever the operands."""


def dimensions(problem: Problem, sizes: Mapping[str, int]) -> dict[str, int]:
    """Return every name that integer expressions of a problem may use.

    Parameters
    ----------
    problem : Problem
    sizes : mapping of str to int
        A size for each dimension; further names (derived ones of an earlier call) are computed
        anew.

    Returns
    -------
    dict of str to int
        Dimensions, integer scalars, then derived sizes.

    Raises
    ------
    UserError
        If a dimension has no size or an expression fails.
    """
    missing = [d.name for d in problem.dimensions if d.name not in sizes]
    if missing:
        raise UserError(f"problem {problem.id}: no size given for {', '.join(missing)}")
    values = {d.name: int(sizes[d.name]) for d in problem.dimensions}
    values |= {name: value for name, value in problem.scalars.items() if isinstance(value, int)}
    for name, text in problem.derived.items():
        values[name] = expressions.evaluate(text, values)
    return values


def contract(problem: Problem) -> dict[str, int]:
    """Return `dimensions` at the contract's sizes."""
    return dimensions(problem, {d.name: d.size for d in problem.dimensions})


def all_specs(problem: Problem) -> tuple[TensorSpec | ParameterSpec, ...]:
    """Return inputs, parameters and outputs, in this order."""
    return (*problem.inputs, *problem.parameters, *problem.outputs)


def smallest_sizes(problem: Problem) -> dict[str, int]:
    """Return the smallest size of each dimension that is congruent to the contract's."""
    sizes: dict[str, int] = {}
    for d in problem.dimensions:
        smallest = d.size % d.tile or d.tile
        short = max(d.minimum - smallest, 0)
        sizes[d.name] = d.size if d.fixed else smallest - (-short // d.tile) * d.tile
    return sizes


def shape_of(spec: TensorSpec | ParameterSpec, values: Mapping[str, int]) -> tuple[int, ...]:
    """Return the shape of a tensor; ``values`` as `dimensions` gives them.

    Raises
    ------
    UserError
        If an expression fails or gives a negative size.
    """
    shape = tuple(expressions.evaluate(text, values) for text in spec.shape)
    if any(size < 0 for size in shape):
        raise UserError(f"tensor '{spec.name}' would have the negative shape {shape}")
    return shape


def reduction_length(problem: Problem, values: Mapping[str, int]) -> int:
    """Return how many terms one output sums; ``values`` as `dimensions` gives them."""
    return expressions.evaluate(problem.reduction_length, values)


def floors(
    problem: Problem,
    tensors: Tensors,
    reference: Tensors,
    reduction_length: int,
    exact: bool,
) -> dict[Statistic, float]:
    r"""Return the rounding-model floor of every statistic against the own reference.

    An output y that sums n rounded terms of total magnitude m(y) (the problem's ``magnitude``:
    the reference on absolute values; the reference itself where none is given) is expected to be
    off by

    .. math:: e(y) = c \sqrt{n} \, (u \, m(y) + \eta), \qquad c = 1, u = 2^{-24}, \eta = 2^{-150}

    (independent roundings grow with the root of their number; Higham and Mary, SIAM J. Sci.
    Comput. 41, 2019, A2815), eta only where m(y) > 0. The floor of a statistic is that statistic
    with d = e:

    =================== ==================================
    allclose_*          max e / (1 + \|ref\|)
    max_abs             max e
    max_rel             max e / \|ref\|
    either_or           max min(e, e / \|ref\|)
    global              max e / (1 + max \|ref\|)
    rms                 max e / RMS(ref)
    =================== ==================================

    e > 0 over a zero scale is infinite, 0 over 0 is 0. Elements that are not finite in the
    reference or in m are left out. All floors are 0 where the problem never rounds, or where the
    input is exact and the problem's sums of such inputs are.

    Parameters
    ----------
    problem : Problem
    tensors : mapping of str to Tensor
        Inputs and parameters.
    reference : mapping of str to Tensor
        The own outputs on them.
    reduction_length : int
        Number of terms at this shape.
    exact : bool
        Whether the pool says that fp32 sums of this input are exact.

    Returns
    -------
    dict of Statistic to float
        One for each of `OWN_STATISTICS`: the maximum over output tensors.
    """
    if not problem.rounds or (exact and problem.exact_lattice):
        return dict.fromkeys(OWN_STATISTICS, 0.0)
    import torch

    magnitudes: Tensors = reference
    if problem.magnitude is not None:
        wide = {n: t.double() if t.is_floating_point() else t for n, t in tensors.items()}
        with torch.no_grad():
            magnitudes = problem.magnitude(wide)
    growth = FLOOR_CONSTANT * math.sqrt(max(reduction_length, 1))
    worst = dict.fromkeys(OWN_STATISTICS, 0.0)
    for name, output in reference.items():
        if not output.is_floating_point():
            continue
        for statistic, value in _output_floors(output, magnitudes[name], growth).items():
            worst[statistic] = max(worst[statistic], value)
    return worst


def values_at(x: "Tensor", indices: "Tensor", dim: int) -> "Tensor":
    """Return the elements that indices along a dimension choose, NaN for those out of range.

    Parameters
    ----------
    x : Tensor
    indices : Tensor of int64
        In the shape of ``x`` without ``dim``.
    dim : int

    Returns
    -------
    Tensor of float64
    """
    length = x.shape[dim]
    inside = (indices >= 0) & (indices < length)
    at = indices.clamp(0, length - 1).unsqueeze(dim)
    chosen = x.gather(dim, at).squeeze(dim).double()
    return chosen.where(inside, math.nan)


def _output_floors(
    output: "Tensor", magnitude: "Tensor", growth: float
) -> Mapping[Statistic, float]:
    import torch

    scale = output.double().abs().flatten()
    sizes = magnitude.double().abs().flatten()
    kept = torch.isfinite(scale) & torch.isfinite(sizes)
    if not bool(kept.all()):  # to select all of a large tensor takes a copy and its indices
        scale, sizes = scale[kept], sizes[kept]
    if scale.numel() == 0:
        return {}
    error = torch.where(sizes > 0, growth * (UNIT_ROUNDOFF * sizes + UNDERFLOW_UNIT), 0.0)
    relative = torch.where(error > 0, error / scale, 0.0)
    found = (
        error.max(),
        (error / (1 + scale)).max(),
        relative.max(),
        torch.minimum(error, relative).max(),
        scale.max(),
        scale.square().mean(),
    )
    largest_error, allclose, largest_relative, either, peak, square = torch.stack(found).tolist()
    return {
        Statistic.ALLCLOSE_CANDIDATE: allclose,
        Statistic.ALLCLOSE_REFERENCE: allclose,
        Statistic.MAX_ABS: largest_error,
        Statistic.MAX_REL: largest_relative,
        Statistic.EITHER_OR: either,
        Statistic.GLOBAL: largest_error / (1 + peak),
        Statistic.RMS: _ratio(largest_error, math.sqrt(square)),
    }


def _ratio(error: float, scale: float) -> float:
    if error == 0:
        return 0.0
    return error / scale if scale > 0 else math.inf
