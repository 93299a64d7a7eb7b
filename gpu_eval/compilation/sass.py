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
from collections.abc import Iterator, Sequence
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
    """Hash the kernels of one implementation; see `Cubin.hash_of` for many of one unit."""
    return Cubin(cubin).hash_of(lowered, namespace, unit_ids=unit_ids)


class Cubin:
    """A unit's cubin, read once for all of its implementations.

    Parameters
    ----------
    data : bytes
        An ELF file as NVRTC writes it.

    Raises
    ------
    ImportError
        If pyelftools is not installed.
    """

    def __init__(self, data: bytes) -> None:
        from elftools.elf.elffile import ELFFile

        self._sections: list[Any] = list(ELFFile(io.BytesIO(data)).iter_sections())
        self._data: dict[int, bytes] = {}
        self._index = {section.name: i for i, section in enumerate(self._sections)}
        self._tables: dict[int, list[Any]] = {}
        # A kernel's sections end in its name.
        self._of_kernel: dict[str, list[str]] = {}
        for name in sorted(self._index):
            if name.startswith((*_PER_KERNEL, _CONSTANT)):
                for dot in (i for i, letter in enumerate(name) if letter == "."):
                    self._of_kernel.setdefault(name[dot + 1 :], []).append(name)
        symbols = self._symbols(self._index[".symtab"]) if ".symtab" in self._index else []
        self._objects = [
            symbol
            for symbol in symbols
            if isinstance(symbol["st_shndx"], int)
            and symbol["st_info"]["type"] in ("STT_OBJECT", "STT_FUNC")
        ]
        self._resources: dict[str, list[tuple[int, int]]] = {}
        for code, number, value in self._unit_attributes():
            if number < len(symbols):
                self._resources.setdefault(symbols[number].name, []).append((code, value))

    def hash_of(self, lowered: Sequence[str], namespace: str, *, unit_ids: bool = True) -> str:
        """Hash the kernels of one implementation.

        Parameters
        ----------
        lowered : sequence of str
            Mangled names of the implementation's kernels, in the order of its plan.
        namespace : str
            The namespace that wraps the implementation.
        unit_ids : bool
            Whether names of internal linkage count with the id of their unit, as they do in a
            matrix; without, hashes of different units can be compared.
        """
        token = f"{len(namespace)}{namespace}"
        digest = hashlib.sha256()
        for kernel in lowered:
            digest.update(b"kernel\0")
            for name in self._of_kernel.get(kernel, []):
                digest.update(name.replace(kernel, "").encode() + b"\0")
                digest.update(self._content(self._index[name], token, unit_ids))
            for attribute, value in sorted(self._resources.get(kernel, [])):
                digest.update(f"resource {attribute} {value}\0".encode())
        for name, data in self._own_objects(token, set(lowered)):
            named = name if unit_ids else _INTERNAL.sub("", name)
            digest.update(f"object {named}\0".encode())
            digest.update(data)
        return digest.hexdigest()

    def _bytes(self, index: int) -> bytes:
        if index not in self._data:
            self._data[index] = self._sections[index].data()
        return self._data[index]

    def _symbols(self, index: int) -> list[Any]:
        if index not in self._tables:
            self._tables[index] = list(self._sections[index].iter_symbols())
        return self._tables[index]

    def _content(self, index: int, token: str, unit_ids: bool) -> bytes:
        section = self._sections[index]
        if section.name.startswith(".nv.info."):
            return b"".join(
                bytes([code]) + (payload[4:] if code == _PARAMETER_BANK else payload)
                for code, payload in _attributes(self._bytes(index))
            )
        if not section.name.startswith((".rela", ".rel")):
            return f"{section['sh_size']}\0".encode() + (
                b"" if section["sh_type"] == "SHT_NOBITS" else self._bytes(index)
            )
        symbols = self._symbols(section["sh_link"])
        lines = []
        for relocation in section.iter_relocations():
            name = symbols[relocation["r_info_sym"]].name.replace(token, "")
            name = name if unit_ids else _INTERNAL.sub("", name)
            addend = relocation["r_addend"] if relocation.is_RELA() else 0
            lines.append(f"{relocation['r_offset']} {relocation['r_info_type']} {name} {addend}")
        return "\n".join(lines).encode()

    def _unit_attributes(self) -> Iterator[tuple[int, int, int]]:
        """Registers, frame and stack sizes, from the module's ``.nv.info``: of which symbol."""
        if ".nv.info" in self._index:
            for code, payload in _attributes(self._bytes(self._index[".nv.info"])):
                if len(payload) == 8:
                    yield (code, *struct.unpack("<II", payload))

    def _own_objects(self, token: str, kernels: set[str]) -> list[tuple[str, bytes]]:
        """Constants, globals and out-of-line device functions of the namespace, by name."""
        found: list[tuple[str, bytes]] = []
        for symbol in self._objects:
            if token not in symbol.name or symbol.name in kernels:
                continue
            index = symbol["st_shndx"]
            empty = self._sections[index]["sh_type"] == "SHT_NOBITS"
            start, size = symbol["st_value"], symbol["st_size"]
            content = b"" if empty else self._bytes(index)[start : start + size]
            found.append((symbol.name.replace(token, ""), f"{size}\0".encode() + content))
        return sorted(found)


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
