"""Data frames to Parquet bytes: the same bytes for the same content."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from suiteopt.matrix.jsonable import dumps
from suiteopt.matrix.tables import REQUIRED, Column

COMPRESSION_LEVEL = 9


def to_arrow(frame: pd.DataFrame, columns: Sequence[Column]) -> pa.Table:
    """Return a table with exactly ``columns``, in their order and types.

    Parameters
    ----------
    frame : DataFrame
        May lack columns, or have gaps (None, NaN) in columns, that have a default. Mappings in
        text columns become JSON.
    columns : sequence of Column

    Raises
    ------
    ValueError
        If a required column is missing, one is not known, or a value does not fit its type.
    """
    unknown = sorted(set(frame.columns) - {column.name for column in columns})
    if unknown:
        raise ValueError(f"the format has no column {unknown[0]!r}")
    arrays = [_array(frame, column) for column in columns]
    return pa.table(arrays, schema=pa.schema([(c.name, c.type) for c in columns]))


def encode(tables: Iterable[pa.Table]) -> bytes:
    """Return tables as the row groups of one Parquet file: zstd, words as dictionaries.

    Floats are split into byte streams: the low bits of a float that was rounded to 12 significant
    bits are zero, so one of its four streams vanishes in compression.

    Parameters
    ----------
    tables : iterable of pyarrow.Table
        One or more, of the same columns.
    """
    sink = pa.BufferOutputStream()
    writer: pq.ParquetWriter | None = None
    for table in tables:
        if writer is None:
            floats = [f.name for f in table.schema if pa.types.is_floating(f.type)]
            writer = pq.ParquetWriter(
                sink,
                table.schema,
                compression="zstd",
                compression_level=COMPRESSION_LEVEL,
                use_dictionary=[f.name for f in table.schema if f.name not in floats],
                use_byte_stream_split=floats,
                write_statistics=False,
            )
        writer.write_table(table)
    if writer is not None:
        writer.close()
    return bytes(sink.getvalue())


def _array(frame: pd.DataFrame, column: Column) -> pa.Array:
    if column.name not in frame.columns:
        if column.default is REQUIRED:
            raise ValueError(f"the column {column.name!r} is missing")
        return _from_values([column.default] * len(frame), column)
    series = frame[column.name]
    if pa.types.is_dictionary(column.type) and isinstance(series.dtype, pd.CategoricalDtype):
        return _words(series.cat)
    if pa.types.is_primitive(column.type) and series.dtype.kind in "bif":
        return _numbers(series.to_numpy(), column)
    return _from_values(series.tolist(), column)


def _words(categories: Any) -> pa.Array:
    """Return a categorical as a dictionary array of the categories in use."""
    used = categories.remove_unused_categories()
    values = pa.array([str(word) for word in used.cat.categories], pa.string())
    codes = pa.array(used.cat.codes.to_numpy(), pa.int32())
    return pa.DictionaryArray.from_arrays(codes, values)


def _numbers(values: np.ndarray[Any, Any], column: Column) -> pa.Array:
    nulls = np.isnan(values) if values.dtype.kind == "f" else None
    try:
        if pa.types.is_integer(column.type) and nulls is not None:
            filled = np.where(nulls, 0, values)
            if np.any(filled != np.trunc(filled)):
                raise ValueError("not whole")
            values = filled.astype(np.int64)
        return pa.array(values, type=column.type, mask=nulls)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, ValueError) as error:
        raise ValueError(f"the column {column.name!r} has a value that does not fit") from error


def _from_values(values: Sequence[Any], column: Column) -> pa.Array:
    default = None if column.default is REQUIRED else column.default
    values = [default if _is_missing(value) else value for value in values]
    try:
        if pa.types.is_dictionary(column.type):
            words = pa.array([_text(value) for value in values], pa.string())
            return words.dictionary_encode().cast(column.type)
        if pa.types.is_string(column.type):
            values = [_text(value) for value in values]
        elif pa.types.is_list(column.type):
            values = [list(value) for value in values]
        return pa.array(values, type=column.type)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, TypeError) as error:
        raise ValueError(f"the column {column.name!r} has a value that does not fit") from error


def _is_missing(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and value != value)


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return dumps(value)
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is neither text nor a mapping")
    return str(value)
