"""Columns and Arrow types of every table of the format, and the names of its files."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from suiteopt.matrix.schema import COUNTS, OWN_STATISTICS, STATISTICS, Statistic

REQUIRED: Final = object()
"""Stands for the default of a column that a writer must be given."""

HEADER = "matrix.json"
PROBLEMS = "problems.parquet"
IMPLEMENTATIONS = "implementations.parquet"
INPUTS = "inputs.parquet"


@dataclass(frozen=True)
class Column:
    """A column: name, Arrow type, and what a writer fills in when it is left out."""

    name: str
    type: pa.DataType
    default: Any = REQUIRED


_WORD = pa.dictionary(pa.int32(), pa.string())
_SITES = pa.list_(
    pa.struct(
        [("file", pa.string())]
        + [
            (name, pa.int32())
            for name in ("start", "end", "line", "column", "end_line", "end_column")
        ]
    )
)
_WORDS = pa.list_(pa.string())


def problem_columns() -> tuple[Column, ...]:
    """Return the columns of ``problems.parquet``."""
    flags = (
        "constant",
        "near_zero",
        "zeros_pass",
        "random_reference",
        "reference_beyond_tolerance",
        "reference_fails",
    )
    return (
        Column("problem", pa.string()),
        Column("benchmark", _WORD, ""),
        Column("level", pa.int32(), 0),
        Column("name", pa.string(), ""),
        Column("dtype", _WORD, "float32"),
        Column("operation_class", _WORD, ""),
        Column("contract", pa.string(), "{}"),
        Column("shape", pa.string(), "{}"),
        Column("reduction_length", pa.int64(), 1),
        Column("rounds", pa.bool_(), True),
        Column("reference_error", pa.float64(), None),
        *(Column(flag, pa.bool_(), False) for flag in flags),
    )


def implementation_columns() -> tuple[Column, ...]:
    """Return the columns of ``implementations.parquet``."""
    return (
        Column("implementation", pa.string()),
        Column("problem", _WORD),
        Column("substrate", _WORD, ""),
        Column("kind", _WORD),
        Column("rules", _WORDS, ()),
        Column("family", _WORD, ""),
        Column("sites", _SITES, ()),
        Column("before", pa.string(), ""),
        Column("after", pa.string(), ""),
        Column("source_hash", pa.string(), ""),
        Column("machine_code", pa.string(), ""),
        Column("class", _WORD, "valid"),
        Column("duplicate_of", pa.string(), ""),
        Column("witness", _WORD, "none"),
        Column("witness_how", _WORD, ""),
        Column("locked", pa.bool_(), False),
        Column("control_kind", _WORD, ""),
        Column("identical", pa.bool_(), False),
        Column("blind", pa.bool_(), False),
        Column("error", pa.string(), ""),
    )


def input_columns(ratios: Sequence[float] = ()) -> tuple[Column, ...]:
    """Return the columns of ``inputs.parquet`` for a matrix with these further ratios."""
    floors = [str(statistic) for statistic in OWN_STATISTICS] + list(ratio_comparators(ratios))
    return (
        Column("input", pa.string()),
        Column("problem", _WORD),
        Column("role", _WORD),
        Column("value_recipe", _WORD, ""),
        Column("parameter_recipe", _WORD, ""),
        Column("shape_recipe", _WORD, "contract"),
        Column("values", pa.string(), "{}"),
        Column("parameters", pa.string(), "{}"),
        Column("shape", pa.string(), "{}"),
        Column("scope", _WORD, "contract"),
        Column("reduction_ratio", pa.float64(), 1.0),
        Column("seed", pa.int64(), 0),
        Column("needs", _WORDS, ()),
        Column("exact", pa.bool_(), False),
        Column("valid", pa.bool_(), True),
        Column("invalid_reason", pa.string(), ""),
        *(Column(floor_column(name), pa.float64(), 0.0) for name in floors),
        Column("bytes", pa.int64(), 0),
        Column("seconds", pa.float64(), 0.0),
    )


def cell_columns(ratios: Sequence[float] = ()) -> tuple[Column, ...]:
    """Return the columns of a cells file for a matrix with these further ratios."""
    return (
        Column("implementation", _WORD),
        Column("input", _WORD),
        Column("status", _WORD),
        Column("repeats", pa.int16(), 1),
        Column("disagreed", pa.int16(), 0),
        *(
            Column(name, pa.int64(), None)
            for count in COUNTS
            for name in (str(count), maximum_column(count))
        ),
        *(
            Column(name, pa.float32(), None)
            for comparator in comparators(ratios)
            for name in (comparator, maximum_column(comparator))
        ),
    )


def comparators(ratios: Sequence[float] = ()) -> tuple[str, ...]:
    """Return the names of everything that a cell keeps a critical tolerance of."""
    return (*(str(statistic) for statistic in STATISTICS), *ratio_comparators(ratios))


def ratio_comparators(ratios: Sequence[float]) -> tuple[str, ...]:
    """Return the names of the statistics max d / (1 + r |.|), in both argument orders."""
    return tuple(
        ratio_comparator(statistic, ratio)
        for ratio in ratios
        for statistic in (Statistic.ALLCLOSE_CANDIDATE, Statistic.ALLCLOSE_REFERENCE)
    )


def ratio_comparator(statistic: Statistic, ratio: float) -> str:
    """Return the name under which an allclose with rtol = ``ratio`` x atol is stored."""
    return f"{statistic}@{ratio:g}"


def maximum_column(name: str) -> str:
    """Return the column of a statistic's or count's maximum over repeats."""
    return f"{name}_max"


def floor_column(comparator: str) -> str:
    """Return the inputs' column that holds a comparator's rounding-model floor."""
    return f"floor_{comparator}"


def cells_file(problem: str) -> str:
    """Return the relative name of a problem's cells file."""
    return f"cells/{problem.replace('/', '-')}.parquet"


def source_file(problem: str, file: str) -> str:
    """Return the relative name under which a source file of a problem travels."""
    return f"sources/{problem.replace('/', '-')}/{file}"


def is_safe_name(name: str) -> bool:
    """Tell whether a relative file name stays inside its directory."""
    parts = name.split("/")
    return bool(name) and "\\" not in name and all(p not in ("", ".", "..") for p in parts)
