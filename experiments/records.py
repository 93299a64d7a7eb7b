"""Results as JSON that people can read and git can keep: a record a line."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from suiteopt.matrix.files import write_atomic
from suiteopt.matrix.jsonable import jsonable


def write_record(path: Path, document: Mapping[str, Any]) -> None:
    """Write a document as `record_text`; the file is whole or as it was."""
    write_atomic(path, record_text(document).encode())


def record_text(document: Mapping[str, Any]) -> str:
    """Return a document as JSON: what holds nothing nested is on one line.

    Infinities and NaN become null, keys stay in their order.
    """
    return f"{_text(jsonable(document), '')}\n"


def _text(value: Any, margin: str) -> str:
    inner = f"{margin} "
    if isinstance(value, Mapping) and _nests(value.values()):
        lines = [f"{json.dumps(key)}: {_text(each, inner)}" for key, each in value.items()]
        return _block("{}", lines, margin)
    if isinstance(value, list) and _nests(value):
        return _block("[]", [_text(each, inner) for each in value], margin)
    return json.dumps(value, allow_nan=False)


def _nests(values: Any) -> bool:
    return any(isinstance(value, Mapping | Sequence) and not isinstance(value, str)
               for value in values)  # fmt: skip


def _block(brackets: str, lines: list[str], margin: str) -> str:
    rows = ",\n".join(f"{margin} {line}" for line in lines)
    return f"{brackets[0]}\n{rows}\n{margin}{brackets[1]}"
