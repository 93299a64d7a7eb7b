"""One implementation alone in a cubin, under a number of its own that reports can be told by.

Members of different units share namespaces. Where a foreign tool names the kernel it complains
about, each implementation of a run needs a name that no other has.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from gpu_eval.compilation.dialects import CUDA
from gpu_eval.compilation.nvrtc import FLAG_NAMES, compile_cubin, entry_points
from gpu_eval.compilation.sass import machine_code_hash
from gpu_eval.compilation.unit import assemble_cuda, label, prepare
from gpu_eval.devices.base import Binary, KernelSource

LINE_INFO = "--generate-line-info"
"""Lets reports name a line of the source; the machine code stays as it is."""


@dataclass(frozen=True)
class Labelled:
    """A cubin of one implementation.

    Attributes
    ----------
    label : str
        Its namespace.
    cubin : bytes
    names : mapping of str to str
        Mangled name of each kernel.
    """

    label: str
    cubin: bytes
    names: Mapping[str, str]

    def equals(self, binary: Binary) -> bool:
        """Tell whether it is the same machine code as a member of a unit."""
        if binary.path is None:
            return False
        mangled = entry_points(binary)
        theirs = [mangled[kernel] for kernel in binary.kernels]
        ours = [self.names[kernel] for kernel in binary.kernels]
        unit = machine_code_hash(binary.path.read_bytes(), theirs, binary.symbol, unit_ids=False)
        return unit == machine_code_hash(self.cubin, ours, self.label, unit_ids=False)


def compile_labelled(source: KernelSource, number: int, architecture: str) -> Labelled:
    """Compile an implementation alone, with line numbers.

    Parameters
    ----------
    source : KernelSource
    number : int
        Below 100,000; decides the namespace.
    architecture : str
        Such as ``sm_90``.

    Raises
    ------
    CompileError, SourceError
        If it does not compile.
    """
    name = label(number)
    entries = tuple(f"{name}::{kernel}" for kernel in source.kernels)
    flags = (*(FLAG_NAMES.get(flag, flag) for flag in source.flags), LINE_INFO)
    text = assemble_cuda([prepare(source, CUDA)], number)
    cubin, lowered = compile_cubin(text, "unit.cu", architecture, flags, entries)
    return Labelled(name, cubin, dict(zip(source.kernels, lowered, strict=True)))
