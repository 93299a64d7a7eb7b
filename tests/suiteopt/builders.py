"""Small hand-made matrices on disk, for tests.

Use as ``from tests.suiteopt.builders import tiny_matrix``.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from suiteopt.matrix.schema import COUNTS, MEASURED_STATUSES, STATISTICS, Status
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.tables import floor_column
from suiteopt.matrix.writer import MatrixWriter

Entry = bool | float | Status | None
"""A cell: killed or not, an error, a status, or None for "not run"."""

KILLED = 1.0
SURVIVED = 1e-7
FAMILIES = ("arithmetic", "boundary", "indexing", "precision", "semantic", "synchronization")
CONTROLS = ("serial", "pairwise", "chunked")
OWN_DRAWS = 5
SOURCE = "__global__ void kernel(float *a) { a[0] = 1; }\n"
SCALINGS = ("own-x3", "own-x0.01", "own-x-1")

DEFAULT_KILLS: Mapping[str, Sequence[Sequence[Entry]]] = {
    "level1/001": [[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]],
    "level1/019": [[0, 1], [1, 0], [1, 1]],
}


def header(**changes: Any) -> dict[str, Any]:
    """Return a whole header of a CPU matrix, with changes."""
    return {
        "tool": "gpu-eval",
        "version": "0.1.0",
        "profile": "demo",
        "label": "CPU, shortened shapes",
        "device": {"name": "host", "model": "a CPU"},
        "command": "gpu-eval run",
        "started": "2026-01-01T00:00:00Z",
        "ended": "2026-01-01T00:01:00Z",
        "seconds": 60.0,
        "corpus_hash": "c" * 64,
        "pool_hash": "d" * 64,
        "witness_hash": "e" * 64,
        "policy": {"tf32": False, "fast_math": False},
        "ratios": [],
        "ledger": [],
        **changes,
    }


def cell(implementation: str, input_id: str, entry: Entry, **columns: Any) -> dict[str, Any]:
    """Return one row of ``MatrixWriter.write_cells``: every statistic has the same value."""
    if isinstance(entry, Status):
        status, error = entry, KILLED
    else:
        status = Status.OK
        error = entry if isinstance(entry, float) else KILLED if entry else SURVIVED
    row: dict[str, Any] = {
        "implementation": implementation,
        "input": input_id,
        "status": str(status),
        "repeats": 1,
        "disagreed": 0,
    }
    if status in MEASURED_STATUSES:
        row |= {str(count): 0 for count in COUNTS}
        row |= {str(statistic): error for statistic in STATISTICS}
    return row | columns


def tiny_matrix(
    path: Path,
    kills: Mapping[str, Sequence[Sequence[Entry]]] | None = None,
    *,
    own_kills: Mapping[str, Sequence[Entry]] | None = None,
    own: bool = False,
    witness_inputs: int = 1,
    controls: Sequence[str] = CONTROLS,
    control_error: float | Mapping[tuple[str, str], Entry] = SURVIVED,
    floor: float = 1e-8,
    nulls: Sequence[str] = ("zeros",),
    mutants: Mapping[str, Mapping[str, Any]] | None = None,
    inputs: Mapping[str, Mapping[str, Any]] | None = None,
    problems: Mapping[str, Mapping[str, Any]] | None = None,
    implementations: Mapping[str, Mapping[str, Any]] | None = None,
    device: str = "host",
    witness: str = "profile",
    complete: bool = True,
) -> Matrix:
    """Write a small matrix by hand and open it.

    Ids are ``<problem>:m<i>`` (mutants), ``<problem>:<kind>`` (controls and nulls),
    ``<problem>:i<j>`` (candidates), ``<problem>:own-<0..4>``, ``<problem>:own-x3`` etc. and
    ``<problem>:w<j>`` (witness pool).

    Parameters
    ----------
    path : Path
        A directory that may not exist yet.
    kills : mapping of problem to rows of entries
        One row a mutant, one column a candidate input: True or 1 (error 1, killed at any
        sensible tolerance), False or 0 (error 1e-7), another float (that error), a `Status`,
        or None (not run).
    own_kills : mapping of problem to entries
        One entry a mutant, the same on all own draws and scalings; not killed by default.
    own : bool
        Whether to add five own draws (the first a candidate) and the three scalings.
    witness_inputs : int
        How many; every mutant is killed on them.
    controls, nulls : sequence of str
        Control kinds (one control each) and names of nulls (killed everywhere).
    control_error : float or mapping of (control id, input id) to entry
        Error of controls; a mapping is for single cells, the others have 1e-7.
    floor : float
        Rounding-model floor of every input and statistic.
    mutants, implementations, inputs, problems : mapping of id to columns
        Columns of single rows that differ from the default.
    device, witness, complete
        Device name in the header, witness scope of every mutant, whether it is complete.

    Returns
    -------
    Matrix
    """
    kills = DEFAULT_KILLS if kills is None else kills
    changed = {**(implementations or {}), **(mutants or {})}
    problem_rows: list[dict[str, Any]] = []
    implementation_rows: list[dict[str, Any]] = []
    input_rows: list[dict[str, Any]] = []
    cells: dict[str, list[dict[str, Any]]] = {}
    for number, (problem, rows) in enumerate(kills.items()):
        problem_rows.append(
            {
                "problem": problem,
                "benchmark": "kernelbench",
                "level": 1,
                "name": f"{number}_Problem",
                "dtype": "float32",
                "operation_class": "matmul",
                "contract": {"N": 64},
                "shape": {"N": 16},
                "reduction_length": 64,
                "reference_error": 1e-7,
                **(problems or {}).get(problem, {}),
            }
        )
        candidates = [f"{problem}:i{j}" for j in range(len(rows[0]) if rows else 0)]
        draws = [f"{problem}:own-{j}" for j in range(OWN_DRAWS)] if own else []
        scalings = [f"{problem}:{name}" for name in SCALINGS] if own else []
        witnesses = [f"{problem}:w{j}" for j in range(witness_inputs)]
        for j, name in enumerate([*candidates, *draws, *scalings, *witnesses]):
            role = "own" if name in draws[1:] else "witness" if name in witnesses else "candidate"
            recipe, value = (
                "lattice-8",
                {"name": "lattice", "version": 1, "arguments": {"width": 8}},
            )
            if name in draws or name in scalings:
                recipe = name.rpartition(":")[2]
                value = {"name": "own", "version": 1, "arguments": {}}
            if name in scalings:
                factor = float(recipe.removeprefix("own-x"))
                value = {"name": "scaled", "version": 1, "arguments": {"factor": factor}}
            input_rows.append(
                {
                    "input": name,
                    "problem": problem,
                    "role": role,
                    "value_recipe": recipe,
                    "parameter_recipe": "benchmark",
                    "values": {"A": value},
                    "parameters": {},
                    "shape": {"N": 16},
                    "scope": "profile",
                    "reduction_ratio": 0.25,
                    "seed": j,
                    "needs": [] if name in draws else ["values"],
                    "bytes": 64 * (j + 1),
                    "seconds": 0.001 * (j + 1),
                    **{floor_column(str(statistic)): floor for statistic in STATISTICS[:7]},
                    **(inputs or {}).get(name, {}),
                }
            )
        everywhere = [*candidates, *draws, *scalings, *witnesses]
        found: list[dict[str, Any]] = []
        implementation_rows.append(
            {"implementation": f"{problem}:cuda", "problem": problem, "kind": "substrate"}
        )
        for i, row in enumerate(rows):
            mutant = f"{problem}:m{i}"
            implementation_rows.append(
                {
                    "implementation": mutant,
                    "problem": problem,
                    "substrate": f"{problem}:cuda",
                    "kind": "mutant",
                    "rules": [f"rule-{i}"],
                    "family": FAMILIES[i % len(FAMILIES)],
                    "sites": [site(i)],
                    "before": "a",
                    "after": "b",
                    "class": "valid",
                    "witness": witness,
                    "witness_how": "error",
                }
            )
            own_entry = (own_kills or {}).get(problem, [False] * len(rows))[i]
            entries = dict(zip(candidates, row, strict=True))
            entries |= dict.fromkeys([*draws, *scalings], own_entry)
            entries |= dict.fromkeys(witnesses, True)
            found += [cell(mutant, name, e) for name, e in entries.items() if e is not None]
        for name in nulls:
            null = f"{problem}:{name}"
            implementation_rows.append({"implementation": null, "problem": problem, "kind": "null"})
            found += [cell(null, column, True) for column in everywhere]
        for kind in controls:
            control = f"{problem}:{kind}"
            implementation_rows.append(
                {
                    "implementation": control,
                    "problem": problem,
                    "kind": "control",
                    "control_kind": kind,
                }
            )
            for column in everywhere:
                entry: Entry = SURVIVED
                if isinstance(control_error, Mapping):
                    entry = control_error.get((control, column), SURVIVED)
                else:
                    entry = control_error
                if entry is not None:
                    found.append(cell(control, column, entry))
        cells[problem] = found
    for row in implementation_rows:
        row |= changed.get(row["implementation"], {})

    writer = MatrixWriter(path, header(device={"name": device, "model": "a device"}))
    writer.write_problems(pd.DataFrame(problem_rows))
    writer.write_implementations(pd.DataFrame(implementation_rows))
    writer.write_inputs(pd.DataFrame(input_rows))
    for problem, found in cells.items():
        writer.write_source(problem, "kernel.cu", SOURCE)
        writer.write_cells(problem, pd.DataFrame(found))
    writer.finish(complete)
    return Matrix.open(path)


def site(number: int, file: str = "kernel.cu") -> dict[str, Any]:
    """Return a site of its own: the expression on line ``number`` + 1."""
    return {
        "file": file,
        "start": 10 * number,
        "end": 10 * number + 1,
        "line": number + 1,
        "column": 1,
        "end_line": number + 1,
        "end_column": 2,
    }
