"""Tables of a matrix that another tool wrote: does their content keep the format's rules?"""

import json
from collections.abc import Sequence
from enum import StrEnum

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from suiteopt.errors import UserError
from suiteopt.matrix.schema import ImplementationClass, Kind, Role, ShapeScope, WitnessScope
from suiteopt.matrix.tables import IMPLEMENTATIONS, INPUTS, PROBLEMS, Column

_TRY = "write it as docs/matrix-format.md says"
_IDS = {PROBLEMS: "problem", IMPLEMENTATIONS: "implementation", INPUTS: "input"}
_WORDS: dict[str, dict[str, type[StrEnum]]] = {
    IMPLEMENTATIONS: {"kind": Kind, "class": ImplementationClass, "witness": WitnessScope},
    INPUTS: {"role": Role, "scope": ShapeScope},
}
_OBJECTS = {PROBLEMS: ("contract", "shape"), INPUTS: ("values", "parameters", "shape")}


def check_columns(table: pa.Table, columns: Sequence[Column], where: str) -> None:
    """Refuse a table without a column of the format, or with one of another kind.

    The width of a number and the encoding of a word are free; nulls are allowed where a writer
    fills in nothing.

    Raises
    ------
    UserError
    """
    for column in columns:
        if column.name not in table.column_names:
            raise UserError(f"{where} lacks the column {column.name!r} of the format; {_TRY}")
        found = table.schema.field(column.name).type
        if not _alike(found, column.type):
            raise UserError(
                f"the column {column.name!r} of {where} holds {found}, and the format has "
                f"{column.type} there; {_TRY}"
            )
        if column.default is not None and table[column.name].null_count:
            raise UserError(f"the column {column.name!r} of {where} has gaps; {_TRY}")


def check_rows(frame: pd.DataFrame, name: str, where: str) -> None:
    """Refuse a table whose ids are not unique, or with a word or a number that means nothing.

    Raises
    ------
    UserError
    """
    twice = frame[_IDS[name]].duplicated()
    if twice.any():
        first = frame.loc[twice, _IDS[name]].iloc[0]
        raise UserError(f"{where} names the {_IDS[name]} {str(first)!r} twice; {_TRY}")
    for column, words in _WORDS.get(name, {}).items():
        for word in frame[column].unique():
            if word not in {str(known) for known in words}:
                raise UserError(
                    f"{where} has the {column} {str(word)!r}; there are {', '.join(words)}"
                )
    for column in _OBJECTS.get(name, ()):
        for text in frame[column].unique():
            if not _is_object(text):
                raise UserError(f"the column {column!r} of {where} is no JSON object; {_TRY}")
    for column in frame.columns:
        if str(column).startswith("floor_") and not (frame[column] >= 0).all():
            raise UserError(f"the column {column!r} of {where} is not 0 or more; {_TRY}")


def check_statistic(column: pa.ChunkedArray, name: str, where: str) -> None:
    """Refuse a statistic or count that is no number, or negative.

    Raises
    ------
    UserError
    """
    if not _is_number(column.type):
        raise UserError(f"the column {name!r} of {where} holds {column.type}, no numbers; {_TRY}")
    least = pc.min(column).as_py()
    if least is not None and least < 0:
        raise UserError(f"the column {name!r} of {where} is negative; {_TRY}")


def check_unique(rows: np.ndarray, columns: np.ndarray, width: int, where: str) -> None:
    """Refuse a cell that stands there twice: which of the two would count?

    Raises
    ------
    UserError
    """
    places = rows * max(width, 1) + columns
    if np.any(np.diff(places) <= 0) and len(np.unique(places)) != len(places):
        raise UserError(f"{where} holds a cell twice; {_TRY}")


def _is_number(kind: pa.DataType) -> bool:
    return any(test(kind) for test in (pa.types.is_integer, pa.types.is_floating, pa.types.is_null))


def _is_text(kind: pa.DataType) -> bool:
    return any(test(kind) for test in (pa.types.is_string, pa.types.is_large_string))


def _is_list(kind: pa.DataType) -> bool:
    return any(test(kind) for test in (pa.types.is_list, pa.types.is_large_list))


def _alike(found: pa.DataType, wanted: pa.DataType) -> bool:
    found, wanted = (t.value_type if pa.types.is_dictionary(t) else t for t in (found, wanted))
    if _is_text(wanted):
        return _is_text(found)
    if pa.types.is_integer(wanted):
        return bool(pa.types.is_integer(found))
    if pa.types.is_floating(wanted):
        return _is_number(found)
    if _is_list(wanted):
        return _is_list(found) and (
            pa.types.is_null(found.value_type)
            or pa.types.is_struct(found.value_type) == pa.types.is_struct(wanted.value_type)
        )
    return bool(found.equals(wanted))


def _is_object(text: object) -> bool:
    try:
        return isinstance(text, str) and isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
