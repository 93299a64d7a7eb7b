"""Python text for exported files: the same characters for equal values, on every version."""

import math
from typing import Any

WIDTH = 96

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}


def literal(value: Any, indent: int = 0) -> str:
    """Return a value as a Python literal, one line where it is short enough.

    Parameters
    ----------
    value : None, bool, int, float, str, list, tuple or dict with text keys, nested
        Tuples are written as lists. Keys keep their order.
    indent : int
        Columns that the literal's first line stands in.

    Raises
    ------
    TypeError
        For any other type, or a number that is not finite.
    """
    flat = _flat(value)
    if len(flat) + indent <= WIDTH or not isinstance(value, dict | list | tuple) or not value:
        return flat
    inner = indent + 4
    pad = " " * inner
    if isinstance(value, dict):
        items = [f"{pad}{_text(key)}: {literal(item, inner)}," for key, item in value.items()]
        return "\n".join(["{", *items, " " * indent + "}"])
    items = [f"{pad}{literal(item, inner)}," for item in value]
    return "\n".join(["[", *items, " " * indent + "]"])


def comment(line: str) -> str:
    """Return a line as a Python comment that cannot break out of itself."""
    shown = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in line)
    return f"# {shown}".rstrip()


def _flat(value: Any) -> str:
    if value is None or isinstance(value, bool | int):
        return repr(value)
    if isinstance(value, float) and math.isfinite(value):
        return repr(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_flat(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(key)}: {_flat(item)}" for key, item in value.items()) + "}"
    raise TypeError(f"{value!r} has no place in an exported file")


def _text(value: str) -> str:
    """Return text in double quotes, as formatters want it, escaped to ASCII."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return '"' + "".join(_ESCAPES.get(letter) or _letter(letter) for letter in value) + '"'


def _letter(letter: str) -> str:
    return letter if 32 <= ord(letter) < 127 else f"\\U{ord(letter):08x}"
