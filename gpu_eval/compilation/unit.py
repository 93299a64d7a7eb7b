"""Many implementations in one translation unit, each in a namespace of its own.

Includes of system and CUDA headers are hoisted, and macros are restored after each mutant.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gpu_eval.compilation.dialects import HOST, Dialect
from gpu_eval.compilation.inlining import LABEL, Gatherer
from gpu_eval.devices.base import KernelSource


@dataclass(frozen=True)
class Prepared:
    """One implementation, ready to stand in a unit.

    Attributes
    ----------
    source : KernelSource
    hoisted : tuple of str
        Standard headers that it includes.
    body : str
        Rewritten text with ``{label}`` where the unit's name for it goes.
    macros : tuple of str
        Names that it defines or undefines.
    balanced : bool
        Whether brackets and conditions close; one that is not compiles alone, since it would take
        its neighbours with it.
    """

    source: KernelSource
    hoisted: tuple[str, ...]
    body: str
    macros: tuple[str, ...]
    balanced: bool


def label(index: int) -> str:
    """Return the namespace of a unit's member; all have the same length."""
    return f"hgm{index:05d}"


def table(index: int) -> str:
    """Return the symbol of a member's table of kernels."""
    return f"{label(index)}_table"


def prepare(source: KernelSource, dialect: Dialect = HOST) -> Prepared:
    """Inline, rewrite and check one implementation.

    Raises
    ------
    SourceError
        If a header is missing or not available, or a declaration cannot be rewritten.
    """
    gatherer = Gatherer(source.files, dialect)
    body = gatherer.inline(source.main)
    return Prepared(
        source,
        tuple(sorted(gatherer.hoisted)),
        body,
        tuple(sorted(gatherer.macros)),
        gatherer.balanced,
    )


def assemble(members: Sequence[Prepared]) -> str:
    """Return the text of a unit.

    Parameters
    ----------
    members : sequence of Prepared
        Member i gets the namespace ``label(i)`` and the table ``table(i)``.
    """
    lines = [f"#include <{name}>" for name in sorted({h for m in members for h in m.hoisted})]
    lines.append('#include "host_runtime.h"')
    for index, member in enumerate(members):
        name = label(index)
        lines += [f'#pragma push_macro("{macro}")' for macro in member.macros]
        lines.append(f"namespace {name} {{ namespace {{")
        lines.append(member.body.replace(LABEL, name))
        lines.append("} }")
        lines += [f'#pragma pop_macro("{macro}")' for macro in member.macros]
        lines.append(f'#line 1 "{name}/{member.source.main}"')
        entries = "".join(
            f'HOSTGPU_KERNEL("{kernel}", {name}::{kernel}), ' for kernel in member.source.kernels
        )
        lines.append(f"HOSTGPU_TABLE({table(index)}) {{ {entries}{{}} }};")
    return "\n".join(lines) + "\n"


def assemble_cuda(members: Sequence[Prepared], first: int = 0) -> str:
    """Return the text of a unit for NVRTC; member i gets the namespace ``label(first + i)``."""
    lines = [f"#include <{name}>" for name in sorted({h for m in members for h in m.hoisted})]
    for index, member in enumerate(members, first):
        name = label(index)
        lines.append(f"namespace {name} {{")
        lines.append(member.body.replace(LABEL, name))
        lines.append("}")
        # NVRTC cannot push and pop macros; nothing but members defines any, so these go.
        lines += [f"#undef {macro}" for macro in member.macros]
    return "\n".join(lines) + "\n"
