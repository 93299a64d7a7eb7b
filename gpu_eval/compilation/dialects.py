"""What differs between the compilers that units are for: headers, and how a file is rewritten."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gpu_eval.compilation.shared_memory import rewrite_shared
from gpu_eval.compilation.tokens import Token

# What host_runtime.h stands for itself.
_PROVIDED = frozenset(
    {
        "cuda.h",
        "cuda_runtime.h",
        "cuda_runtime_api.h",
        "cuda_fp16.h",
        "cuda_fp16.hpp",
        "cuda_bf16.h",
        "vector_types.h",
        "vector_functions.h",
        "device_launch_parameters.h",
        "device_functions.h",
        "math_constants.h",
        "sm_30_intrinsics.h",
        "host_defines.h",
        "builtin_types.h",
        "cassert",
        "assert.h",
        "cmath",
        "math.h",
        "cfloat",
        "float.h",
        "climits",
        "limits.h",
        "cstdint",
        "stdint.h",
        "cstddef",
        "stddef.h",
        "cstring",
        "string.h",
        "cstdlib",
        "stdlib.h",
        "cstdio",
        "stdio.h",
    }
)
_HALF_HEADERS = frozenset({"cuda_fp16.h", "cuda_bf16.h"})
_STANDARD = frozenset({"limits", "type_traits", "utility", "initializer_list", "array", "tuple"})


@dataclass(frozen=True)
class Dialect:
    """What differs between the compilers that units are for.

    Attributes
    ----------
    name : str
    provided : frozenset of str
        Headers that are left out, since the runtime stands for them or nothing is needed.
    hoisted : frozenset of str
        Headers that are included once, before all members.
    rewrite : callable
        Tokens of a file to its text.
    numbers_barriers : bool
        Whether every barrier is told from the others, so that divergence can be seen.
    """

    name: str
    provided: frozenset[str]
    hoisted: frozenset[str]
    rewrite: Callable[[Sequence[Token]], str]
    numbers_barriers: bool


def _verbatim(tokens: Sequence[Token]) -> str:
    return "".join(token.text for token in tokens)


HOST = Dialect("the host device", _PROVIDED, _STANDARD, rewrite_shared, True)
CUDA = Dialect("NVRTC", _PROVIDED - {"cuda_fp16.h", "cuda_bf16.h"}, _HALF_HEADERS, _verbatim, False)
