"""The machine code of this package's own kernels: compiled once, carried to every worker.

A worker that takes over from a lost one would otherwise compile them anew, at half a second for
the compiler alone, before it can make its first input.
"""

from collections.abc import Mapping
from importlib.resources import files

from gpu_eval.devices import cuda_chains, cuda_compare, cuda_ground, cuda_hash

COMPARISON = "compare"
PROGRAMS = (COMPARISON, cuda_hash.PROGRAM, cuda_chains.PROGRAM)

_KEPT: dict[tuple[str, str], bytes] = {}
"""Cubins of this process by program and architecture."""


def keep(architecture: str, code: Mapping[str, bytes]) -> None:
    """Take programs of an architecture as compiled, in this process."""
    _KEPT.update({(program, architecture): cubin for program, cubin in code.items()})


def machine_code(program: str, architecture: str) -> bytes:
    """Return the cubin of one of `PROGRAMS`, compiled where it was not kept.

    Raises
    ------
    UserError
        If NVRTC is missing or does not know the architecture.
    """
    from gpu_eval.compilation.nvrtc import compile_cubin

    key = (program, architecture)
    if key not in _KEPT:
        text, entries = _source(program)
        _KEPT[key], _ = compile_cubin(text, f"{program}.cu", architecture, (), entries)
    return _KEPT[key]


def _source(program: str) -> tuple[str, tuple[str, ...]]:
    """Return the text of a program and its kernels."""
    if program == cuda_hash.PROGRAM:
        return cuda_hash.SOURCE, cuda_hash.KERNELS
    if program == cuda_chains.PROGRAM:
        return cuda_chains.source(), cuda_chains.KERNELS
    directory = files("gpu_eval.devices")
    parts = ("compare.cu", "checksum.cu", "ground.cu")
    text = "\n".join(directory.joinpath(name).read_text() for name in parts)
    return text, (cuda_compare.ENTRY, "checksum", *cuda_ground.KERNELS)
