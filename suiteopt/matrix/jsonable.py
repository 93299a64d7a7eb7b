"""JSON with infinity and NaN as null, the same bytes for the same content."""

import json
import math
from collections.abc import Mapping
from typing import Any


def jsonable(value: Any) -> Any:
    """Return ``value`` in JSON's own types.

    Infinities and NaN become ``None``; mappings get string keys; tuples, sets and arrays become
    lists (sets sorted); NumPy scalars become Python's.

    Parameters
    ----------
    value : Any
        Nested mappings, sequences, sets, arrays and scalars.

    Returns
    -------
    Any
        A new value that `json.dumps` writes with ``allow_nan=False``.

    Raises
    ------
    TypeError
        If something in it has no JSON form.
    """
    if value is None or isinstance(value, str | bool):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return [jsonable(item) for item in sorted(value)]
    if isinstance(value, list | tuple):
        return [jsonable(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy arrays and scalars, without importing NumPy
        return jsonable(value.tolist())
    raise TypeError(f"{type(value).__name__} has no JSON form")


def dumps(value: Any, *, indent: int | None = None) -> str:
    """Return ``value`` as JSON text: sorted keys, non-finite numbers as null."""
    return json.dumps(
        jsonable(value), sort_keys=True, allow_nan=False, ensure_ascii=False, indent=indent
    )
