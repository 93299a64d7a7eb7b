"""Null mutants: implementations that do no work.

A check that accepts one of them judges nothing on that input. Each is a function of what a
harness has lying around, on whatever device that is.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from gpu_eval.problems.definition import Tensors

if TYPE_CHECKING:
    from torch import Tensor

FILL = 0xCD
"""The byte that a debugging allocator leaves in fresh memory; -4.3e8 as fp32."""

_DRAWN = 1 << 20
_SEED = 0x5EED


@dataclass(frozen=True, slots=True)
class Null:
    """A null mutant.

    Attributes
    ----------
    name : str
    doc : str
        One line.
    make : callable
        One output from (inputs and parameters, its reference, the same output of the last call or
        None).
    """

    name: str
    doc: str
    make: Callable[[Tensors, "Tensor", "Tensor | None"], "Tensor"]

    def outputs(
        self, tensors: Tensors, reference: Tensors, previous: Tensors | None = None
    ) -> dict[str, "Tensor"]:
        """Return all outputs.

        Parameters
        ----------
        tensors : mapping of str to Tensor
            Inputs first, then parameters.
        reference : mapping of str to Tensor
            The own outputs on them; gives names, shapes, dtypes, devices and ranges.
        previous : mapping of str to Tensor, optional
            The outputs of the call before this one, of any shape; None for a first call.
        """
        before = previous or {}
        return {
            name: self.make(tensors, output, before.get(name)) for name, output in reference.items()
        }


def zeros(tensors: Tensors, reference: "Tensor", previous: "Tensor | None") -> "Tensor":
    """Return zeros."""
    import torch

    return torch.zeros_like(reference)


def constant(tensors: Tensors, reference: "Tensor", previous: "Tensor | None") -> "Tensor":
    """Return the mean of the reference everywhere: the constant that is nearest to right.

    Of a single number the mean would be the answer itself: there it is 1.
    """
    import torch

    if reference.dim() == 0:
        return torch.ones_like(reference)
    finite = _finite(reference)
    mean = float(finite.mean()) if finite.numel() else 0.0
    return torch.full_like(reference, mean)


def copy_of_input(tensors: Tensors, reference: "Tensor", previous: "Tensor | None") -> "Tensor":
    """Return the first input's elements in order, repeated or cut to the output's size."""
    return _fit(next(iter(tensors.values())), reference)


def random_in_range(tensors: Tensors, reference: "Tensor", previous: "Tensor | None") -> "Tensor":
    """Return uniform random numbers between the reference's extremes (always the same draw).

    A single number is drawn from zero to twice the reference.
    """

    finite = _finite(reference)
    low, high = (float(finite.min()), float(finite.max())) if finite.numel() else (0.0, 1.0)
    if reference.dim() == 0:
        low, high = 0.0, 2 * high
    # A large output repeats a draw of a million: more of it would be no less wrong, and is slow.
    draw = _draw(min(reference.numel(), _DRAWN), str(reference.device))
    return _fit((low + (high - low) * draw).to(dtype=reference.dtype), reference)


def not_a_number(tensors: Tensors, reference: "Tensor", previous: "Tensor | None") -> "Tensor":
    """Return NaN; the largest integer for integer outputs."""
    import torch

    if reference.is_floating_point():
        return torch.full_like(reference, math.nan)
    return torch.full_like(reference, torch.iinfo(reference.dtype).max)


def untouched(tensors: Tensors, reference: "Tensor", previous: "Tensor | None") -> "Tensor":
    """Return a fresh allocation that nothing was written to: a debugging allocator's fill."""
    import torch

    size = reference.numel() * reference.element_size()
    memory = torch.full((size,), FILL, dtype=torch.uint8, device=reference.device)
    return memory.view(reference.dtype).reshape(reference.shape)


def stale(tensors: Tensors, reference: "Tensor", previous: "Tensor | None") -> "Tensor":
    """Return what the last call gave, repeated or cut to size; untouched on a first call."""
    if previous is None or previous.numel() == 0:
        return untouched(tensors, reference, previous)
    return _fit(previous, reference)


NULLS: tuple[Null, ...] = (
    Null("zeros", "zeros everywhere", zeros),
    Null("constant", "the mean of the right answer everywhere; 1 for a single number", constant),
    Null("copy-input", "the first input, passed on", copy_of_input),
    Null("random", "random numbers of the right range", random_in_range),
    Null("nan", "NaN everywhere", not_a_number),
    Null("untouched", "an output that nothing was written to", untouched),
    Null("stale", "the output of the last call", stale),
)


def _finite(reference: "Tensor") -> "Tensor":
    import torch

    wide = reference.double().flatten()
    finite = torch.isfinite(wide)
    return wide if bool(finite.all()) else wide[finite]


@lru_cache(maxsize=4)
def _draw(count: int, device: str) -> "Tensor":
    """Return so many uniform numbers in fp64, always the same ones."""
    import torch

    generator = torch.Generator().manual_seed(_SEED)
    return torch.rand(count, dtype=torch.float64, generator=generator).to(device)


def _fit(source: "Tensor", like: "Tensor") -> "Tensor":
    import torch

    flat = source.flatten().to(device=like.device, dtype=like.dtype)
    wanted = like.numel()
    if flat.numel() == 0 or wanted == 0:
        return torch.zeros_like(like)
    repeats = -(-wanted // flat.numel())
    return flat.repeat(repeats)[:wanted].reshape(like.shape)
