"""Matrices made cell by cell, where `tests.suiteopt.builders.tiny_matrix` is too regular."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from suiteopt.matrix.schema import STATISTICS, Status
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.tables import floor_column
from suiteopt.matrix.writer import MatrixWriter
from tests.suiteopt.builders import SOURCE, cell, header, site

P = "level1/001"
Cells = Mapping[str, Mapping[str, float | Status | Mapping[str, Any] | None]]


def made_matrix(
    path: Path,
    cells: Cells,
    *,
    implementations: Mapping[str, Mapping[str, Any]] | None = None,
    inputs: Mapping[str, Mapping[str, Any]] | None = None,
    problem: Mapping[str, Any] | None = None,
    floor: float = 0.0,
    source: str = SOURCE,
) -> Matrix:
    """Write a matrix of one problem, ``level1/001``.

    Parameters
    ----------
    path : Path
    cells : mapping of implementation to mapping of input to entry
        Names without the problem. Mutants start with ``m``, controls with ``c``, nulls with
        ``null:``. An entry is the value of every statistic, a status, columns of the cell, or
        None for "not run"; an input that no implementation names does not exist.
    implementations, inputs : mapping of name to columns
    problem : mapping of columns
    floor : float
        Of every input and statistic.
    source : str
        Text of ``kernel.cu``.
    """
    names = list(dict.fromkeys(name for row in cells.values() for name in row))
    input_rows = [
        _input(name, j, floor, (inputs or {}).get(name, {})) for j, name in enumerate(names)
    ]
    implementation_rows = [
        _implementation(name, i, (implementations or {}).get(name, {}))
        for i, name in enumerate(cells)
    ]
    found = []
    for name, row in cells.items():
        for column, entry in row.items():
            if entry is None:
                continue
            if isinstance(entry, Mapping):
                found.append(cell(f"{P}:{name}", f"{P}:{column}", 0.0, **entry))
            else:
                found.append(cell(f"{P}:{name}", f"{P}:{column}", entry))
    about = {
        "problem": P,
        "benchmark": "kernelbench",
        "level": 1,
        "name": "1_Problem",
        "dtype": "float32",
        "operation_class": "matmul",
        "contract": {"N": 64},
        "shape": {"N": 64},
        "reduction_length": 64,
        "reference_error": 1e-7,
        **(problem or {}),
    }
    writer = MatrixWriter(path, header())
    writer.write_problems(pd.DataFrame([about]))
    writer.write_implementations(pd.DataFrame(implementation_rows))
    writer.write_inputs(pd.DataFrame(input_rows))
    writer.write_source(P, "kernel.cu", source)
    writer.write_cells(P, pd.DataFrame(found))
    writer.finish(True)
    return Matrix.open(path)


def _input(name: str, number: int, floor: float, changes: Mapping[str, Any]) -> dict[str, Any]:
    value, _, shape = name.partition("@")
    value, _, parameters = value.partition(":")
    return {
        "input": f"{P}:{name}",
        "problem": P,
        "role": "witness" if name.startswith("witness") else "candidate",
        "value_recipe": value,
        "parameter_recipe": parameters or "benchmark",
        "shape_recipe": shape or "contract",
        "values": {"A": {"name": value, "version": 1, "arguments": {}}},
        "parameters": {},
        "shape": {"N": 64},
        "scope": "contract",
        "reduction_ratio": 1.0,
        "seed": number,
        "needs": [] if name.startswith("own") else ["values"],
        **{floor_column(str(statistic)): floor for statistic in STATISTICS[:7]},
        **changes,
    }


def _implementation(name: str, number: int, changes: Mapping[str, Any]) -> dict[str, Any]:
    kind = "null" if name.startswith("null:") else "control" if name[0] == "c" else "mutant"
    row: dict[str, Any] = {
        "implementation": f"{P}:{name}",
        "problem": P,
        "kind": kind,
        "class": "valid",
    }
    if kind == "mutant":
        row |= {
            "rules": [f"rule-{number}"],
            "family": "arithmetic",
            "sites": [site(number)],
            "witness": "contract",
            "witness_how": "error",
        }
    if kind == "control":
        row["control_kind"] = name
    return row | dict(changes)
