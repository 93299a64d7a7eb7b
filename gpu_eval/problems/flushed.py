"""What fp32 atomics on a GPU's memory lose near zero, which no other addition does.

"Current implementation of atom.add.f32 on global memory flushes subnormal inputs and results to
sign-preserving zero; whereas atom.add.f32 on shared memory supports subnormal inputs and results"
(PTX ISA, atom; red alike), whatever the compiler is told about denormals.
"""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from gpu_eval.problems.definition import Tensors

if TYPE_CHECKING:
    from tree_sitter import Node

    from gpu_eval.mutation.sites import SourceContext

SMALLEST_NORMAL = 2.0**-126
"""More than one flushed addition loses: where its operand is flushed, its result is not, since that
is what was there before."""


def adds_atomically(sources: Mapping[str, str]) -> bool:
    """Tell whether kernels add fp32 numbers atomically, to anything but shared memory.

    Parameters
    ----------
    sources : mapping of str to str
        File name to text, headers included.
    """
    if not any("atomicAdd" in text for text in sources.values()):
        return False
    from gpu_eval.mutation.contexts import build_contexts
    from gpu_eval.mutation.parser import parse_all
    from gpu_eval.mutation.rules.patterns import calls

    return any(
        _is_flushed(context, call)
        for context in build_contexts(parse_all(sources)).values()
        for call in calls(context, "atomicAdd")
    )


def _is_flushed(context: "SourceContext", call: "Node") -> bool:
    from gpu_eval.mutation.kinds import Space
    from gpu_eval.mutation.tree import arguments

    target, value = arguments(call)
    return context.is_float(value) and context.space(target) is not Space.SHARED


def flushing_floor(truth: Tensors, additions: int) -> float:
    """Return what so many flushed additions to an output may cost, as max d / RMS.

    An absolute term in the output's own units, as the rounding model's is for underflow (see
    `gpu_eval.problems.tensors.floors`). Sums that are scaled down afterwards lose less, and no
    output that is far from fp32's smallest normal number loses anything that shows.

    Parameters
    ----------
    truth : mapping of str to Tensor
        The outputs in fp64.
    additions : int
        To one output at most.
    """
    import torch

    worst = 0.0
    for output in truth.values():
        finite = output[torch.isfinite(output)].double()
        scale = math.sqrt(float(finite.square().mean())) if finite.numel() else 0.0
        if scale > 0:
            worst = max(worst, additions * SMALLEST_NORMAL / scale)
    return worst
