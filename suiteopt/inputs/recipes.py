# SPDX-License-Identifier: MIT
# Input recipes of kernel-suiteopt, in one file that needs nothing but torch, so that a benchmark
# can carry it as it is. Do not edit a copy: a recipe's bits are part of every result made with it.
"""Input recipes: pure functions of (shape, seed, arguments) with the same bits on every device.

A value depends on the flat 64-bit index of its element, the seed and the arguments, and on
nothing else: no generator, no state, no order of evaluation. To get the same bits everywhere, all
randomness is integer hashing in int64 (operands of a right shift are non-negative, products are
below 2**63), and floats come from integers by conversion, scaling by powers of two, table
look-up, and single additions only. A recipe's version never changes its bits.

``generate`` makes a tensor of one recipe; ``build`` makes a named tensor of a suite member.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    import torch
    from torch import Tensor

_WORD = 0xFFFFFFFF
_CHUNK = 1 << 18
_DERIVED = frozenset({"blend", "ends"})
_Integers = TypeVar("_Integers", int, "Tensor")


def _mix(x: _Integers) -> _Integers:
    """Permute 32-bit words so that every input bit moves every output bit.

    Shifts and multipliers are those of the public "hash prospector" search with the least bias;
    both multipliers are below 2**31, so that products of 32-bit words fit int64.
    """
    x = x ^ (x >> 16)
    x = (x * 0x21F0AAAD) & _WORD
    x = x ^ (x >> 15)
    x = (x * 0x735A2D97) & _WORD
    return x ^ (x >> 15)


HASHERS: "dict[str, Callable[[Tensor, int, int], Tensor]]" = {}
"""By kind of device, what computes `_hash` of int64 tensors there from two keys in one go.

Empty unless a program that makes many inputs puts something here; the bits are the same.
"""


def _hash(at: _Integers, seed: int, stream: int) -> _Integers:
    """Return 32 random bits for each index ``at`` (0 <= at < 2**63) in a stream of a seed."""
    keys = []
    for key in (0x243F6A88, 0x13198A2E):
        for word in (seed & _WORD, (seed >> 32) & _WORD, stream & _WORD):
            key = _mix(key ^ word)
        keys.append(key)
    if HASHERS and not isinstance(at, int) and at.device.type in HASHERS:
        return HASHERS[at.device.type](at, *keys)
    inner = _mix((at & _WORD) ^ keys[0])
    return _mix(((inner + (at >> 32) * 0x2C1B3C6D) & _WORD) ^ keys[1])


class _Chunk(NamedTuple):
    """One stretch of the flat index of a tensor: what a recipe is evaluated on."""

    position: "Tensor"
    shape: tuple[int, ...]
    seed: int

    @property
    def total(self) -> int:
        return _product(self.shape)

    def bits(self, stream: int, at: "Tensor | None" = None) -> "Tensor":
        """Return 32 random bits an element, as int64; by element, or by another index ``at``."""
        return _hash(self.position if at is None else at, self.seed, stream)

    def rows(self, axes: int) -> "tuple[Tensor, Tensor, int]":
        """Return row, column and row length, where the last ``axes`` dimensions are a row."""
        length = max(_product(self.shape[max(len(self.shape) - axes, 0) :]), 1)
        return self.position // length, self.position % length, length


def _product(sizes: Sequence[int]) -> int:
    result = 1
    for size in sizes:
        result *= size
    return result


def _floats(integers: "Tensor", exponent: int = 0) -> "Tensor":
    """Convert to float32 and scale by 2**exponent; exact for integers up to 2**24."""
    return integers.float() * 2.0**exponent


def _below(bits: "Tensor", count: int) -> "Tensor":
    """Turn 32 random bits into an integer in [0, count)."""
    if not 0 < count < 1 << 31:
        raise ValueError(f"a random choice is among 1 to 2**31 - 1 numbers, not {count}")
    return (bits * count) >> 32


def _signs(bits: "Tensor") -> "Tensor":
    return 1 - 2 * (bits & 1)


def _look_up(table: "Sequence[float]", at: "Tensor") -> "Tensor":
    import torch

    return torch.tensor(table, dtype=torch.float32, device=at.device)[at]


def _at_place(c: _Chunk, place: str, axes: int, stream: int, count: int = 1) -> "Tensor":
    """Return where each row has its marked columns: first, last, or ``count`` random ones."""
    row, column, length = c.rows(axes)
    if place == "first":
        return column == 0
    if place == "last":
        return column == length - 1
    if place != "random":
        raise ValueError(f"place is '{place}'; use first, last or random")
    marked = column < 0
    for turn in range(count):
        marked = marked | (column == _below(c.bits(stream + turn, row), length))
    return marked


def _background(c: _Chunk, noise: bool) -> "Tensor":
    """Return zeros, or noise in [-0.25, 0.25): equal terms round alike, and their errors add up."""
    return _floats((c.bits(8) >> 7) - (1 << 24), -26) if noise else c.position.float() * 0.0


def _base(c: _Chunk, base: str, axes: int) -> "Tensor":
    """Return what another recipe gives by its defaults."""
    if base not in RECIPES or base in _DERIVED or RECIPES[base].nonfinite:
        raise ValueError(f"base is '{base}'; use another recipe with finite values")
    shaped = {"axes": axes} if "axes" in RECIPES[base].arguments else {}
    return RECIPES[base].function(c, **shaped)


# The recipes. Each takes the chunk and its arguments, and returns float32 values of the chunk.


def uniform(c: _Chunk, exponent: int = 0) -> "Tensor":
    """Uniform in [0, 2**exponent) in steps of 2**-24: the distribution of torch.rand."""
    return _floats(c.bits(0) >> 8, exponent - 24)


def signed_uniform(c: _Chunk, exponent: int = 0) -> "Tensor":
    """Uniform in [-2**exponent, 2**exponent)."""
    return _floats((c.bits(0) >> 7) - (1 << 24), exponent - 24)


def normal(c: _Chunk, exponent: int = 0) -> "Tensor":
    """Normal to the eye, standard deviation 2**exponent: twelve random bytes, added, smoothed."""
    total = c.bits(3) & 0xFFF
    for stream in range(3):
        word = c.bits(stream)
        pairs = (word & 0xFF00FF) + ((word >> 8) & 0xFF00FF)
        total = total + (((pairs & 0xFFFF) + (pairs >> 16)) << 12)
    return _floats(total - (1530 * 4096 + 2048), exponent - 20)


def heavy_tail(c: _Chunk, levels: int = 10, exponent: int = 0) -> "Tensor":
    """Heavy tails: |x| is above 2**k with probability 2**-(k+1), up to k = levels (at most 16)."""
    if not 1 <= levels <= 16:
        raise ValueError(f"levels is {levels}; use 1 to 16")
    import torch

    word = c.bits(0)
    # The leading zeros of a random word are its level: 0 in half of all cases, 1 in a quarter.
    powers_of_two = torch.tensor([1 << k for k in range(levels)], device=word.device)
    level = levels - torch.bucketize(word >> (32 - levels), powers_of_two, right=True)
    scale = _look_up([2.0 ** max(k - 1, 0) for k in range(levels + 1)], level)
    lead = level.clamp(max=1) << 23
    return _floats(_signs(word) * (lead + (c.bits(1) >> 9)), exponent - 23) * scale


def octaves(c: _Chunk, low: int = -12, high: int = 12) -> "Tensor":
    """Either sign, magnitudes spread evenly over the octaves from 2**low to 2**(high+1)."""
    word = c.bits(0)
    scale = _look_up([2.0**e for e in range(low, high + 1)], _below(word, high + 1 - low))
    return _floats(_signs(word) * ((1 << 23) + (c.bits(1) >> 9)), -23) * scale


def beyond_half(c: _Chunk, exponent: int = 16) -> "Tensor":
    """Either sign, magnitudes from 2**exponent to 2**(exponent+3): above fp16's largest number."""
    return octaves(c, exponent, exponent + 2)


def below_half(c: _Chunk, exponent: int = -28) -> "Tensor":
    """Either sign, magnitudes from 2**exponent to 2**(exponent+3): fp16 rounds them to zero."""
    return octaves(c, exponent, exponent + 2)


def lattice(c: _Chunk, width: int = 3) -> "Tensor":
    """Integers from -width to width: fp32 sums of their products are exact up to 2**24."""
    return _floats(_below(c.bits(0), 2 * width + 1) - width)


def residue(c: _Chunk, modulus: int = 127) -> "Tensor":
    """The index modulo a prime, about zero: integers in which every neighbour differs."""
    return _floats((c.position + (c.seed & 0xFFFF)) % modulus - modulus // 2)


def powers(c: _Chunk, low: int = -3, high: int = 3) -> "Tensor":
    """Powers of two of either sign, from 2**low to 2**high: products are exact."""
    word = c.bits(0)
    scale = _look_up([2.0**e for e in range(low, high + 1)], _below(word, high + 1 - low))
    return _floats(_signs(word)) * scale


def constant(c: _Chunk, numerator: int = 1, exponent: int = 0) -> "Tensor":
    """One value everywhere: numerator * 2**exponent."""
    return _floats(c.position * 0 + numerator, exponent)


def alternating(c: _Chunk, exponent: int = 0, axes: int = 1) -> "Tensor":
    """Signs that alternate along rows and from row to row, magnitudes in [1, 2) * 2**exponent."""
    row, column, _ = c.rows(axes)
    return _floats(_signs(row + column) * ((1 << 23) + (c.bits(0) >> 9)), exponent - 23)


def pairs(c: _Chunk, mirror: bool = False, axes: int = 1) -> "Tensor":
    """Pairs of opposite sign that cancel up to 2**-19; partners are neighbours or mirror images."""
    row, column, length = c.rows(axes)
    first = column * 2 < length if mirror else column % 2 == 0
    mirrored = length - 1 - column
    partner = mirrored if mirror else column + 1 - 2 * (column % 2)
    pair = column.where(first, partner)
    magnitude = (1 << 23) + (c.bits(0, row * length + pair) >> 9)
    # The middle of an odd row has no partner: it is left small, or it would be the whole sum.
    alone = (partner == column) | (partner >= length)
    large = (magnitude * (2 * first.long() - 1)).masked_fill(alone, 0)
    return _floats(large + (c.bits(1) >> 28), -23)


def offset(c: _Chunk, offset: int = 1000, spread: int = 0) -> "Tensor":
    """A large offset with a small spread: offset + uniform in [-2**spread, 2**spread)."""
    return signed_uniform(c, spread) + float(offset)


def rows(c: _Chunk, levels: int = 8, spread: int = 0, axes: int = 1) -> "Tensor":
    """A level of its own for each row, an integer from -levels to levels, and a small spread."""
    row, _, _ = c.rows(axes)
    return signed_uniform(c, spread) + _floats(_below(c.bits(1, row), 2 * levels + 1) - levels)


def ramp(c: _Chunk, span: int = 0) -> "Tensor":
    """The flat index about zero, scaled into [-2**span, 2**span): up to 2**24 values differ."""
    size = c.total
    return _floats(2 * c.position + 1 - size, span - (size - 1).bit_length())


def impulse(
    c: _Chunk, place: str = "last", exponent: int = 0, noise: bool = False, axes: int = 1
) -> "Tensor":
    """Zeros (or noise) but for one element a row, first, last or random: [1, 2) * 2**exponent."""
    value = _floats((1 << 23) + (c.bits(0) >> 9), exponent - 23)
    return value.where(_at_place(c, place, axes, 1), _background(c, noise))


def tile_edges(c: _Chunk, tile: int = 32, noise: bool = False, axes: int = 1) -> "Tensor":
    """Zeros (or noise) but for both edges of every tile and the last column of the row."""
    _, column, length = c.rows(axes)
    edge = (column % tile == 0) | (column % tile == tile - 1) | (column == length - 1)
    return signed_uniform(c).where(edge, _background(c, noise))


def sparse(c: _Chunk, one_in: int = 16, exponent: int = 0, noise: bool = False) -> "Tensor":
    """Mostly zeros (or noise): one element in ``one_in`` is normal, deviation 2**exponent."""
    return normal(c, exponent).where(_below(c.bits(4), one_in) == 0, _background(c, noise))


def few(c: _Chunk, count: int = 4) -> "Tensor":
    """Ties: ``count`` distinct values of full precision, one in each unit step about zero."""
    values = [(j << 20) + (_hash(j, c.seed, 1) >> 12) - (count << 19) for j in range(count)]
    return _look_up([value * 2.0**-20 for value in values], _below(c.bits(0), count))


def sorted_(c: _Chunk, descending: bool = False, exponent: int = 0, axes: int = 1) -> "Tensor":
    """Every row sorted (ascending or descending), in [-2**exponent, 2**exponent)."""
    _, column, length = c.rows(axes)
    size = (length - 1).bit_length()
    fine = max(23 - size, 0)
    step = length - 1 - column if descending else column
    value = (step << fine) + (c.bits(0) >> (32 - fine) if fine else 0)
    return _floats(2 * value - (length << fine), exponent - size - fine)


def hot(
    c: _Chunk, heat: int = 32, count: int = 1, place: str = "random", axes: int = 1
) -> "Tensor":
    """Hot logits: standard normal, and ``heat`` more at ``count`` places of every row."""
    value = normal(c)
    return (value + float(heat)).where(_at_place(c, place, axes, 4, count), value)


def zeros_denormals(c: _Chunk) -> "Tensor":
    """Zeros and denormal numbers of both signs, and the smallest normal number."""
    import torch

    word, mantissa = c.bits(0), c.bits(1) >> 9
    kind = (word >> 8) & 7
    pattern = (mantissa | 1).where(kind < 5, (kind - 5) * 0).masked_fill(kind == 5, 1 << 23)
    return (pattern - ((word & 1) << 31)).int().view(torch.float32)


def nonfinite(c: _Chunk, special: str = "mixed", one_in: int = 64) -> "Tensor":
    """Normal, with NaN, infinities, or both (nan, inf, mixed) at one element in ``one_in``."""
    infinity = float("inf")
    tables = {
        "nan": [float("nan")],
        "inf": [infinity, -infinity],
        "mixed": [float("nan"), infinity, -infinity],
    }
    if special not in tables:
        raise ValueError(f"special is '{special}'; use nan, inf or mixed")
    value = _look_up(tables[special], _below(c.bits(5), len(tables[special])))
    return value.where(_below(c.bits(4), one_in) == 0, normal(c))


def away(c: _Chunk, sixteenths: int = 20, exponent: int = 0) -> "Tensor":
    """Either sign, magnitude uniform in [s, s + 1) * 2**exponent with s = sixteenths / 16."""
    magnitude = (sixteenths << 19) + (c.bits(1) >> 9)
    return _floats(_signs(c.bits(0)) * magnitude, exponent - 23)


def blend(
    c: _Chunk,
    base: str = "normal",
    exponent: int = 0,
    offset: int = 0,
    one_in: int = 1,
    levels: int = 0,
    noise: bool = False,
    axes: int = 1,
) -> "Tensor":
    """A recipe (its defaults) times 2**exponent, thinned out, raised by rows and by an offset."""
    value = _base(c, base, axes) * 2.0**exponent
    if one_in > 1:
        value = value.where(_below(c.bits(64), one_in) == 0, _background(c, noise))
    if levels:
        row, _, _ = c.rows(axes)
        value = value + _floats(_below(c.bits(65, row), 2 * levels + 1) - levels)
    return value + float(offset) if offset else value


def ends(
    c: _Chunk,
    base: str = "heavy-tail",
    exponent: int = 0,
    lift: int = 8,
    count: int = 4,
    axes: int = 1,
) -> "Tensor":
    """A recipe (its defaults) times 2**exponent, and 2**lift more at both ends of every row."""
    _, column, length = c.rows(axes)
    value = _base(c, base, axes) * 2.0**exponent
    return (value * 2.0**lift).where((column < count) | (column >= length - count), value)


def lanes(c: _Chunk, low: int = 0, high: int = 0, axes: int = 1) -> "Tensor":
    """Small integers at two scales, of an amplitude that each column modulo 128 draws: 1, 2 or 4.

    So the share of one lane or warp of a row does not stand for the others'; both ends of a row
    are of the largest. Even rows are scaled by 2**low, odd ones
    by 2**high: sums, and sums of squares up to 2**24 units, stay exact in any order.
    """
    row, column, length = c.rows(axes)
    size = (_below(c.bits(0), 3) - 1) << _below(c.bits(1, column % 128), 3)
    size = (size * 0 + 4).where((column == 0) | (column == length - 1), size)
    return _floats(size) * _look_up([2.0**low, 2.0**high], row % 2)


def sunken(
    c: _Chunk, depth: int = 400, levels: int = 64, exponent: int = 0, heat: int = 256, axes: int = 1
) -> "Tensor":
    """Integers times 2**exponent, far below zero, each row about a level; some rows end hot.

    One row in 64 has its last element raised by ``heat``, which is still negative. Exponentials
    about a maximum that starts at zero vanish, about one that misses the last element overflow.
    """
    row, column, length = c.rows(axes)
    value = _floats(_below(c.bits(0), 7) - 3, exponent)
    level = _below(c.bits(1, row), 2 * levels + 1) - levels - depth
    last = (column == length - 1) & (row % 64 == 63)
    return value + _floats(level + last.long() * heat)


class Recipe(NamedTuple):
    """A recipe of the registry.

    ``bound`` gives, for arguments, the largest magnitude if all values are integers, else None;
    ``exact`` says whether it can: then sums of products are exact in fp32 below 2**24.
    """

    name: str
    version: int
    doc: str
    exact: bool
    nonfinite: bool
    arguments: Mapping[str, Any]
    function: "Callable[..., Tensor]"
    bound: "Callable[..., int | None]"


def _no_bound(**_arguments: Any) -> None:
    return None


def _recipe(
    function: "Callable[..., Tensor]",
    bound: "Callable[..., int | None]" = _no_bound,
    *,
    version: int = 1,
    nonfinite: bool = False,
) -> Recipe:
    return Recipe(
        name=function.__name__.strip("_").replace("_", "-"),
        version=version,
        doc=(function.__doc__ or "").strip().partition("\n")[0],
        exact=bound is not _no_bound,
        nonfinite=nonfinite,
        arguments=MappingProxyType(
            {
                name: parameter.default
                for name, parameter in list(signature(function).parameters.items())[1:]
            }
        ),
        function=function,
        bound=bound,
    )


RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {
        recipe.name: recipe
        for recipe in (
            _recipe(uniform),
            _recipe(signed_uniform),
            _recipe(normal),
            _recipe(heavy_tail),
            _recipe(octaves),
            _recipe(beyond_half),
            _recipe(below_half),
            _recipe(lattice, lambda width: width),
            _recipe(residue, lambda modulus: modulus // 2),
            _recipe(powers, lambda low, high: 2**high if low >= 0 else None),
            _recipe(
                constant,
                lambda numerator, exponent: abs(numerator) << exponent if exponent >= 0 else None,
            ),
            _recipe(alternating),
            _recipe(pairs),
            _recipe(offset),
            _recipe(rows),
            _recipe(ramp),
            _recipe(impulse),
            _recipe(tile_edges),
            _recipe(sparse),
            _recipe(few),
            _recipe(sorted_),
            _recipe(hot),
            _recipe(zeros_denormals),
            _recipe(nonfinite, nonfinite=True),
            _recipe(away),
            _recipe(blend),
            _recipe(ends),
            _recipe(
                lanes,
                lambda low, high, axes: 4 << max(low, high) if min(low, high) >= 0 else None,
            ),
            _recipe(sunken),
        )
    }
)


def _arguments(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return all arguments of a recipe, defaults included."""
    if name not in RECIPES:
        raise ValueError(f"unknown recipe '{name}'; known: {', '.join(sorted(RECIPES))}")
    known = RECIPES[name].arguments
    for argument in given:
        if argument not in known:
            listed = ", ".join(known) or "none"
            raise ValueError(f"recipe '{name}' has no argument '{argument}'; it has: {listed}")
    return {**known, **given}


def integer_bound(name: str, arguments: Mapping[str, Any]) -> "int | None":
    """Return the largest magnitude a recipe gives if all its values are integers, else None."""
    complete = _arguments(name, arguments)
    return RECIPES[name].bound(**complete)


def generate(
    name: str,
    shape: Sequence[int],
    seed: int,
    arguments: "Mapping[str, Any] | None" = None,
    device: "torch.device | str" = "cpu",
    dtype: "torch.dtype | None" = None,
    chunk: int = _CHUNK,
) -> "Tensor":
    """Make a tensor of one recipe.

    Parameters
    ----------
    name : str
        A key of `RECIPES`.
    shape : sequence of int
    seed : int
        Its low 64 bits count.
    arguments : mapping, optional
        Arguments of the recipe that differ from their defaults.
    device : torch.device or str
        Where to compute; the bits are the same everywhere.
    dtype : torch.dtype, optional
        Of the result, float32 by default; values are float32 ones, rounded once.
    chunk : int
        Elements computed at a time; bounds the memory beside the result and changes no bit.

    Returns
    -------
    Tensor
        Contiguous, of the given shape.

    Raises
    ------
    ValueError
        If the recipe or an argument is unknown.
    """
    import torch

    complete = _arguments(name, arguments or {})
    sizes = tuple(int(size) for size in shape)
    total = _product(sizes)
    result = torch.empty(total, dtype=dtype or torch.float32, device=device)
    for start in range(0, total, chunk):
        stop = min(start + chunk, total)
        position = torch.arange(start, stop, dtype=torch.int64, device=device)
        result[start:stop] = RECIPES[name].function(_Chunk(position, sizes, seed), **complete)
    return result.reshape(sizes)


def apply_structure(tensor: "Tensor", structure: str, classes: int = 0) -> "Tensor":
    """Give a tensor the structure that its contract demands.

    Parameters
    ----------
    tensor : Tensor
        Float values of any recipe; matrices are the last two dimensions, rows the last one.
    structure : str
        ``none``, ``diagonal``, ``symmetric`` (the lower half mirrored), ``lower_triangular``,
        ``upper_triangular``, ``probability_rows`` (positive multiples of 2**-24 in proportion to
        the magnitudes, each row adds up to exactly 1), ``signs`` (+1 or -1), ``mask`` (bool, true
        where positive) or ``class_ids`` (int64 below ``classes``).
    classes : int
        Number of classes, for ``class_ids``.

    Raises
    ------
    ValueError
        If the structure is unknown, or a row is too long for ``probability_rows``.
    """
    import torch

    if structure == "none":
        return tensor
    if structure == "signs":
        return torch.where(tensor < 0, -1.0, 1.0).to(tensor.dtype)
    if structure == "mask":
        return tensor > 0
    if structure == "class_ids":
        return _class_ids(tensor, classes)
    if structure == "probability_rows":
        return _probability_rows(tensor)
    row = torch.arange(tensor.shape[-2], device=tensor.device)[:, None]
    column = torch.arange(tensor.shape[-1], device=tensor.device)[None, :]
    if structure == "symmetric":
        return torch.where(row >= column, tensor, tensor.transpose(-2, -1)).contiguous()
    kept = {
        "diagonal": row == column,
        "lower_triangular": row >= column,
        "upper_triangular": row <= column,
    }
    if structure not in kept:
        raise ValueError(f"unknown structure '{structure}'")
    return torch.where(kept[structure], tensor, tensor.new_zeros(()))


def _magnitudes(tensor: "Tensor", largest: float) -> "Tensor":
    """Return magnitudes as float32 without NaN and at most ``largest``."""
    return tensor.float().abs().nan_to_num(0.0, largest, largest).clamp(max=largest)


def _probability_rows(tensor: "Tensor") -> "Tensor":
    length = tensor.shape[-1]
    if length > 1 << 20:
        raise ValueError(f"probability rows hold at most 2**20 elements, not {length}")
    weights = (_magnitudes(tensor, 2.0**18) * 2.0**12).long() + 1
    # Every element gets one unit of 2**-24; the others are shared out in proportion.
    units = (1 << 24) - length
    share = weights * units // weights.sum(dim=-1, keepdim=True)
    left = units - share.sum(dim=-1, keepdim=True)
    share = share + 1 + (_column_numbers(tensor) < left).long()
    return _floats(share, -24).to(tensor.dtype)


def _column_numbers(tensor: "Tensor") -> "Tensor":
    import torch

    return torch.arange(tensor.shape[-1], device=tensor.device).expand(tensor.shape)


def _class_ids(tensor: "Tensor", classes: int) -> "Tensor":
    """Map [0, 1) evenly onto the classes, larger magnitudes by their integer part."""
    if not 1 <= classes < 1 << 31:
        raise ValueError(f"class ids need a number of classes, not {classes}")
    magnitude = _magnitudes(tensor, 2.0**62)
    share = ((magnitude.clamp(max=1.0) * 2.0**24).long() * classes) >> 24
    return share.where(magnitude < 1.0, magnitude.long() % classes)


def tensor_seed(seed: int, tensor: str) -> int:
    """Derive the seed of one named tensor of a suite member from the member's seed."""
    digest = hashlib.sha256(f"{seed}:{tensor}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def build(
    recipe: Mapping[str, Any],
    shape: Sequence[int],
    seed: int,
    tensor: str,
    device: "torch.device | str" = "cpu",
    chunk: int = _CHUNK,
) -> "Tensor":
    """Make one named tensor of a suite member.

    Parameters
    ----------
    recipe : mapping
        ``{"name", "version", "arguments"}`` as a matrix and a suite store it; with ``structure``
        (and ``classes``) where the contract demands one, see `apply_structure`.
    shape : sequence of int
    seed : int
        The member's seed; every tensor derives its own from it and from its name.
    tensor : str
        Name of the input or parameter.
    device : torch.device or str
    chunk : int
        Elements made at a time; the bits do not depend on it.

    Returns
    -------
    Tensor
        float32, or bool for a mask, int64 for class ids.

    Raises
    ------
    ValueError
        If the recipe is unknown, or is stored in another version than this file has.
    """
    name, version = recipe["name"], recipe["version"]
    arguments = _arguments(name, recipe["arguments"])
    if version != RECIPES[name].version:
        raise ValueError(
            f"recipe '{name}' is wanted in version {version}; this file has {RECIPES[name].version}"
        )
    values = generate(name, shape, tensor_seed(seed, tensor), arguments, device, chunk=chunk)
    return apply_structure(values, recipe.get("structure", "none"), recipe.get("classes", 0))
