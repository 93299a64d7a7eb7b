"""A hash of a kernel's machine code in a cubin, the same in a batched unit and alone.

Two implementations with equal hashes behave equally under equal launch plans. What is hashed for
each kernel: its instructions, its resources (registers, barriers, stack, shared bytes), its
constant banks, its relocations by symbol name, and the device functions, constants and globals of
the implementation's own namespace. The namespace itself does not count.

Where a ``__constant__`` table lies in its bank depends on the unit, and instructions name the
place: implementations with such tables may be told apart though they are equal, which costs a run.
"""

import hashlib
import io
import re
import struct
from collections.abc import Sequence
from typing import Any

_PER_KERNEL = (".text.", ".rela.text.", ".rel.text.", ".nv.info.", ".nv.shared.")
_CONSTANT = ".nv.constant"
_SIZED = 4
"""Form of an attribute that carries its own size."""
_PARAMETER_BANK = 0x0A
"""Attribute that begins with the index of a symbol, which the rest of the unit decides."""
_INTERNAL = re.compile(r"_(?:INTERNAL|GLOBAL__N_)_[0-9a-f]{8}_\d+_unit_cu_[0-9a-f]{8}")
"""What names of internal linkage and anonymous namespaces have in them: an id of the unit."""


def machine_code_hash(
    cubin: bytes, lowered: Sequence[str], namespace: str, *, unit_ids: bool = True
) -> str:
    """Hash the kernels of one implementation.

    Parameters
    ----------
    cubin : bytes
        An ELF file as NVRTC writes it.
    lowered : sequence of str
        Mangled names of the implementation's kernels, in the order of its plan.
    namespace : str
        The namespace that wraps the implementation.
    unit_ids : bool
        Whether names of internal linkage count with the id of their unit, as they do in a matrix;
        without, hashes of different units can be compared.

    Raises
    ------
    ImportError
        If pyelftools is not installed.
    """
    from elftools.elf.elffile import ELFFile

    elf = ELFFile(io.BytesIO(cubin))
    sections = {section.name: section for section in elf.iter_sections()}
    token = f"{len(namespace)}{namespace}"
    digest = hashlib.sha256()
    for kernel in lowered:
        digest.update(b"kernel\0")
        for name in sorted(sections):
            if _belongs(name, kernel):
                digest.update(name.replace(kernel, "").encode() + b"\0")
                digest.update(_content(elf, sections[name], token, unit_ids))
        for attribute, value in _resources(sections, kernel):
            digest.update(f"resource {attribute} {value}\0".encode())
    for name, data in _own_objects(elf, sections, token, set(lowered)):
        named = name if unit_ids else _INTERNAL.sub("", name)
        digest.update(f"object {named}\0".encode())
        digest.update(data)
    return digest.hexdigest()


def _belongs(section: str, kernel: str) -> bool:
    if not section.endswith(f".{kernel}"):
        return False
    return section.startswith((*_PER_KERNEL, _CONSTANT))


def _content(elf: Any, section: Any, token: str, unit_ids: bool) -> bytes:
    if section.name.startswith(".nv.info."):
        return b"".join(
            bytes([code]) + (payload[4:] if code == _PARAMETER_BANK else payload)
            for code, payload in _attributes(section.data())
        )
    if not section.name.startswith((".rela", ".rel")):
        return f"{section['sh_size']}\0".encode() + (
            b"" if section["sh_type"] == "SHT_NOBITS" else section.data()
        )
    symbols = elf.get_section(section["sh_link"])
    lines = []
    for relocation in section.iter_relocations():
        name = symbols.get_symbol(relocation["r_info_sym"]).name.replace(token, "")
        name = name if unit_ids else _INTERNAL.sub("", name)
        addend = relocation["r_addend"] if relocation.is_RELA() else 0
        lines.append(f"{relocation['r_offset']} {relocation['r_info_type']} {name} {addend}")
    return "\n".join(lines).encode()


def _attributes(data: bytes) -> list[tuple[int, bytes]]:
    """Parse a ``.nv.info`` section: attribute codes and payloads."""
    found = []
    position = 0
    while position + 4 <= len(data):
        form, code, size = struct.unpack_from("<BBH", data, position)
        position += 4
        length = size if form == _SIZED else 0
        payload = data[position : position + length] if length else data[position - 2 : position]
        found.append((code, payload))
        position += length
    return found


def _resources(sections: dict[str, Any], kernel: str) -> list[tuple[int, int]]:
    """Registers, frame and stack sizes of a kernel, from the module's ``.nv.info``."""
    info, table = sections.get(".nv.info"), sections.get(".symtab")
    if info is None or table is None:
        return []
    pairs = [
        (code, *struct.unpack("<II", payload))
        for code, payload in _attributes(info.data())
        if len(payload) == 8
    ]
    return sorted(
        (code, value) for code, symbol, value in pairs if table.get_symbol(symbol).name == kernel
    )


def _own_objects(
    elf: Any, sections: dict[str, Any], token: str, kernels: set[str]
) -> list[tuple[str, bytes]]:
    """Constants, globals and out-of-line device functions of the namespace, by name."""
    table = sections.get(".symtab")
    found: list[tuple[str, bytes]] = []
    if table is None:
        return found
    for symbol in table.iter_symbols():
        index = symbol["st_shndx"]
        if token not in symbol.name or symbol.name in kernels or not isinstance(index, int):
            continue
        section = elf.get_section(index)
        if symbol["st_info"]["type"] not in ("STT_OBJECT", "STT_FUNC"):
            continue
        data = b"" if section["sh_type"] == "SHT_NOBITS" else section.data()
        start, size = symbol["st_value"], symbol["st_size"]
        content = f"{size}\0".encode() + data[start : start + size]
        found.append((symbol.name.replace(token, ""), content))
    return sorted(found)
