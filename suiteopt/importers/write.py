"""A foreign kill map as a matrix of this project's format."""

import os
import re
import shutil
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

from suiteopt.errors import UserError
from suiteopt.importers.killmap import ForeignMutant, KillMap, Outcome
from suiteopt.matrix.denominator import IMPORTED_DEVICE
from suiteopt.matrix.files import PARTIAL_SUFFIX, is_taken, sha256
from suiteopt.matrix.schema import (
    COUNTS,
    OWN_STATISTICS,
    ImplementationClass,
    Kind,
    Role,
    ShapeScope,
    Status,
)
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.tables import is_safe_name
from suiteopt.matrix.writer import MatrixWriter
from suiteopt.suite import BENCHMARK_RECIPE, CONTRACT_SHAPE

ORIGINAL = "original"
"""The control: the unmutated program, on which every test passes; tools refuse to start else."""

UNNAMED_RULE = "unspecified"
_STATUSES = {
    Outcome.PASSED: Status.OK,
    Outcome.UNCOVERED: Status.OK,
    Outcome.FAILED: Status.OK,
    Outcome.TIMEOUT: Status.TIMEOUT,
    Outcome.CRASHED: Status.CRASH,
}


def write_matrix(
    found: KillMap, name: str, path: Path, command: str, allow_incomplete: bool = False
) -> Matrix:
    """Write a kill map as a matrix of one problem; whole or not at all.

    A test is an input and its verdict a cell: a test that passes accepts at tolerance 0, one that
    fails accepts at none, so every statistic against the own reference is 0 or infinite. Nothing
    is said about the truth. The unmutated program is the one control, and nothing rounds, so
    calibrated tolerances are 0. There is no witness pool: every valid mutant counts.

    Parameters
    ----------
    found : KillMap
    name : str
        Id of the problem.
    path : Path
        A directory that does not exist yet, or is empty.
    command : str
        For the record.
    allow_incomplete : bool
        Whether pairs may be unknown. They are left out of the cells, and the matrix says that it
        is incomplete.

    Raises
    ------
    UserError
        If the kill map is incomplete and may not be, or the directory is taken.
    """
    if found.gap and not allow_incomplete:
        raise UserError(
            f"the kill matrix is incomplete, {found.unknown} of "
            f"{found.outcomes.size} results are not known: {found.gap}; give --allow-incomplete to "
            "count what is not known as no kill"
        )
    if is_taken(path):
        raise UserError(f"{path} exists already; give a directory that does not")
    partial = path.with_name(f".{path.name}{PARTIAL_SUFFIX}")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        _write(found, name, partial, command)
        if path.is_dir():
            path.rmdir()
        os.replace(partial, path)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return Matrix.open(path)


def problem_name(path: Path) -> str:
    """Return an id for a problem after the file that it comes from."""
    stem = path.resolve().name
    for end in (".killMap.csv", "killMap.csv", ".json", ".xml", ".csv", ".npz"):
        if stem.lower().endswith(end.lower()):
            stem = stem[: -len(end)] or path.resolve().parent.name
            break
    return re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("-.") or "imported"


def _write(found: KillMap, name: str, path: Path, command: str) -> None:
    label = f"imported from {found.tool}: one verdict a test, every mutant counts"
    writer = MatrixWriter(
        path,
        {
            "tool": "suiteopt import",
            "version": version("kernel-suiteopt"),
            "profile": "imported",
            "label": label,
            "device": {"name": IMPORTED_DEVICE, "model": found.tool},
            "command": command,
            "started": "",
            "ended": "",
            "seconds": 0.0,
            "corpus_hash": "",
            "pool_hash": sha256("\n".join(found.tests).encode()),
            "witness_hash": "",
            "policy": {},
            "ratios": [],
            "ledger": [],
            "notes": [*found.notes, *([found.gap] if found.gap else [])],
        },
    )
    for file, text in sorted(found.sources.items()):
        if is_safe_name(file) and file.isprintable():
            writer.write_source(name, file, text)
    about = {
        "problem": name,
        "benchmark": found.tool,
        "name": name,
        "operation_class": "program",
        "rounds": False,
        "reference_error": 0.0,
    }
    writer.write_problems(pd.DataFrame([about]))
    writer.write_implementations(pd.DataFrame(_implementations(found, name)))
    writer.write_inputs(
        pd.DataFrame(
            {
                "input": [f"{name}:{test}" for test in found.tests],
                "problem": name,
                "role": str(Role.CANDIDATE),
                "value_recipe": list(found.titles),
                "parameter_recipe": BENCHMARK_RECIPE,
                "shape_recipe": CONTRACT_SHAPE,
                "scope": str(ShapeScope.CONTRACT),
            }
        )
    )
    writer.write_cells(name, _cells(found, name))
    writer.finish(not found.gap)


def _implementations(found: KillMap, name: str) -> list[dict[str, object]]:
    program = f"{name}:program"
    rows: list[dict[str, object]] = [
        {"implementation": program, "problem": name, "kind": str(Kind.SUBSTRATE)},
        {"implementation": f"{name}:{ORIGINAL}", "problem": name, "kind": str(Kind.CONTROL),
         "control_kind": ORIGINAL, "identical": True},
    ]  # fmt: skip
    defaults = {"control_kind": "", "identical": False}
    mutants = [_mutant(mutant, name, program) for mutant in found.mutants]
    blank: dict[str, object] = dict(mutants[0], rules=[], sites=[]) if mutants else {}
    blank |= {key: "" for key in blank if key not in ("rules", "sites", "class")}
    blank["class"] = str(ImplementationClass.VALID)
    return [{**blank, **defaults, **row} for row in (*rows, *mutants)]


def _mutant(mutant: ForeignMutant, name: str, program: str) -> dict[str, object]:
    place = mutant.place
    rule = mutant.rule or UNNAMED_RULE
    return {
        "implementation": f"{name}:mutant:{mutant.name}",
        "problem": name,
        "substrate": program,
        "kind": str(Kind.MUTANT),
        "rules": [rule],
        "family": rule,
        "sites": []
        if place is None
        else [
            {
                "file": place.file,
                "start": place.start,
                "end": place.end,
                "line": place.line,
                "column": place.column,
                "end_line": place.end_line or place.line,
                "end_column": place.end_column,
            }
        ],
        "before": mutant.before,
        "after": mutant.after,
        "class": str(mutant.kind),
        "error": mutant.error,
    }


def _cells(found: KillMap, name: str) -> pd.DataFrame:
    """Rows of what is known: the control on every test, every valid mutant on those recorded."""
    valid = [m.kind == ImplementationClass.VALID for m in found.mutants]
    ids = [f"{name}:{ORIGINAL}"]
    ids += [f"{name}:mutant:{m.name}" for m, v in zip(found.mutants, valid, strict=True) if v]
    control = np.full((1, len(found.tests)), Outcome.PASSED, dtype=np.int8)
    outcomes = np.concatenate([control, found.outcomes[valid]])
    rows, columns = np.nonzero(outcomes != Outcome.UNKNOWN)
    codes = outcomes[rows, columns]
    words = {outcome: number for number, outcome in enumerate(_STATUSES)}
    table = np.zeros(len(Outcome), dtype=np.int64)
    for outcome, number in words.items():
        table[outcome] = number
    statuses = [str(status) for status in _STATUSES.values()]
    exception = codes >= Outcome.TIMEOUT
    statistic = np.where(codes == Outcome.FAILED, np.inf, np.where(exception, np.nan, 0.0))
    inputs = [f"{name}:{test}" for test in found.tests]
    frame = {
        "implementation": pd.Index(ids)[rows],
        "input": pd.Index(inputs)[columns],
        "status": np.array(statuses, dtype=object)[table[codes]],
        "repeats": np.where(codes == Outcome.UNCOVERED, 0, 1),
    }
    frame |= {str(count): np.where(exception, np.nan, 0.0) for count in COUNTS}
    frame |= {str(own): statistic for own in OWN_STATISTICS}
    return pd.DataFrame(frame)
