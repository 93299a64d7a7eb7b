"""A hash of what an implementation's machine code does, free of names and places.

From the implementation's table of kernels every function, constant and variable that can be reached
is visited in a fixed order. Of each the hash takes the bytes with all relocated fields blank, and
each relocation as (offset, type, addend, what it refers to). A thing met before is referred to by
its number, an undefined symbol by its name, a literal by its value. So the hash is the same whether
the implementation was compiled alone or among others, and changes with any instruction, constant,
initial value or callee.

Compiled with one section a function and variable (see ``toolchain.py``), a section is such a thing.
"""

import hashlib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

_SYMBOL = np.dtype(
    [
        ("name", "<u4"),
        ("info", "u1"),
        ("other", "u1"),
        ("section", "<u2"),
        ("value", "<u8"),
        ("size", "<u8"),
    ]
)
_RELOCATION = np.dtype([("offset", "<u8"), ("info", "<u8"), ("addend", "<i8")])
_SHT_RELA, _SHT_SYMTAB, _SHT_NOBITS = "SHT_RELA", "SHT_SYMTAB", "SHT_NOBITS"
_SHF_MERGE, _SHF_STRINGS = 0x10, 0x20
_SHN_UNDEF, _STT_SECTION = 0, 3
# Bytes that a relocation fills, and whether it counts from the field's own place.
_X86_FIELDS = {1: (8, False), 10: (4, False), 11: (4, False)}
_X86_RELATIVE = frozenset({2, 4, 9, 41, 42})
_INTERFACE = "hostgpu_"  # the shim's own objects: the same for all, known by name


class ObjectFile:
    """A relocatable ELF object, indexed for hashing.

    Parameters
    ----------
    path : Path
        Compiled with ``-ffunction-sections -fdata-sections -Wa,-L``.
    """

    def __init__(self, path: Path) -> None:
        from elftools.elf.elffile import ELFFile

        with path.open("rb") as file:
            elf = ELFFile(file)
            self._x86 = elf["e_machine"] == "EM_X86_64"
            sections: list[Any] = list(elf.iter_sections())
            self._flags = [s["sh_flags"] for s in sections]
            self._entry_size = [s["sh_entsize"] for s in sections]
            self._empty = [s["sh_type"] == _SHT_NOBITS for s in sections]
            self._size = [s["sh_size"] for s in sections]
            self._data = [
                b"" if e else s.data() for s, e in zip(sections, self._empty, strict=True)
            ]
            symbols = next(s for s in sections if s["sh_type"] == _SHT_SYMTAB)
            self._symbols = np.frombuffer(symbols.data(), _SYMBOL)
            strings = self._data[symbols["sh_link"]]
            self._relocations: dict[int, Any] = {}
            for section in sections:
                if section["sh_type"] == _SHT_RELA:
                    table = np.sort(np.frombuffer(section.data(), _RELOCATION), order="offset")
                    self._relocations[section["sh_info"]] = table
        self._names = [_string(strings, int(n)) for n in self._symbols["name"]]
        self._defined = {
            name: index
            for index, name in enumerate(self._names)
            if name and self._symbols["section"][index] != _SHN_UNDEF
        }
        self._literals = self._find_literals()

    def hash_from(self, symbol: str, names: Mapping[bytes, bytes]) -> str:
        """Hash all that is reachable from a symbol.

        Parameters
        ----------
        symbol : str
            An implementation's table of kernels.
        names : mapping of bytes to bytes
            Texts to replace in string literals (the implementation's label), of equal length.

        Returns
        -------
        str
            Hexadecimal SHA-256.
        """
        digest = hashlib.sha256()
        root = int(self._symbols["section"][self._defined[symbol]])
        numbers = {root: 0}
        queue = [root]
        for section in queue:
            digest.update(self._describe(section, names, numbers, queue).encode())
        return digest.hexdigest()

    def _describe(
        self, section: int, names: Mapping[bytes, bytes], numbers: dict[int, int], queue: list[int]
    ) -> str:
        data = bytearray(self._data[section])
        lines: list[str] = []
        for offset, info, addend in self._relocations.get(section, ()):
            kind, symbol = int(info) & 0xFFFFFFFF, int(info) >> 32
            width = _X86_FIELDS.get(kind, (4, True))[0] if self._x86 else 0
            data[int(offset) : int(offset) + width] = bytes(width)
            target = self._target(symbol, int(addend), kind, names, numbers, queue)
            lines.append(f"{int(offset)} {kind} {target}")
        size = self._size[section]
        flags = self._flags[section]
        # The table itself names its kernels by string literals, all else is bytes.
        return f"{size} {flags} {self._empty[section]} {bytes(data).hex()} {lines}\n"

    def _target(
        self,
        symbol: int,
        addend: int,
        kind: int,
        names: Mapping[bytes, bytes],
        numbers: dict[int, int],
        queue: list[int],
    ) -> str:
        name = self._names[symbol]
        section = int(self._symbols["section"][symbol])
        if section == _SHN_UNDEF or name.startswith(_INTERFACE):
            return f"symbol {name} {addend}"
        value = int(self._symbols["value"][symbol])
        bias = 4 if self._x86 and kind in _X86_RELATIVE else 0
        if self._flags[section] & _SHF_MERGE:
            literal = self._merged(section, value, addend + bias, bool(name))
            for old, new in names.items():
                literal = literal.replace(old, new)
            return f"literal {addend if name else ''} {literal.hex()}"
        if section in self._literals:
            return f"constant {self._constant(section, value + addend + bias)}"
        if section not in numbers:
            numbers[section] = len(queue)
            queue.append(section)
        return f"item {numbers[section]} {value + addend}"

    def _merged(self, section: int, value: int, addend: int, named: bool) -> bytes:
        """Return a literal of a mergeable section."""
        data = self._data[section]
        if self._flags[section] & _SHF_STRINGS:
            start = value if named else value + addend
            return data[start : data.index(b"\0", start)]
        size = self._entry_size[section]
        # An immediate after the address shifts it by up to 4 bytes: round up to a literal's start.
        start = value if named else -(-(value + addend) // size) * size
        return data[start : start + size]

    def _find_literals(self) -> dict[int, list[int]]:
        """Where literals begin in sections that several functions share."""
        found: dict[int, set[int]] = {}
        for index, name in enumerate(self._names):
            section = int(self._symbols["section"][index])
            if not name.startswith(".LC") or not 0 < section < len(self._flags):
                continue
            if not self._flags[section] & _SHF_MERGE:
                found.setdefault(section, set()).add(int(self._symbols["value"][index]))
        return {section: sorted(starts) for section, starts in found.items()}

    def _constant(self, section: int, offset: int) -> str:
        """Describe the literal at an offset; two where an immediate makes it uncertain which."""
        starts = self._literals[section]
        parts = []
        for place in sorted({offset, offset + 1, offset + 2, offset + 4}):
            index = bisect_right(starts, place) - 1
            if place != offset and starts[index] != place:
                continue
            end = starts[index + 1] if index + 1 < len(starts) else self._size[section]
            content = self._data[section][starts[index] : end].rstrip(b"\0")
            parts.append(f"{offset - starts[index]} {content.hex()}")
        return " | ".join(parts)


def _string(table: bytes, start: int) -> str:
    return table[start : table.index(b"\0", start)].decode()


def machine_code_hashes(path: Path, tables: Sequence[str], labels: Sequence[str]) -> list[str]:
    """Hash each implementation of a unit.

    Parameters
    ----------
    path : Path
        The unit's object file.
    tables, labels : sequence of str
        Symbol of each implementation's table of kernels, and its namespace.

    Returns
    -------
    list of str
        Equal hashes mean equal machine code, constants and initial values.
    """
    unit = ObjectFile(path)
    return [
        unit.hash_from(table, {label.encode(): b"@" * len(label)})
        for table, label in zip(tables, labels, strict=True)
    ]
