"""A check's result as a report in the mutation-testing-elements schema, for its HTML viewer."""

from collections.abc import Iterable
from importlib.metadata import version
from typing import Any

import pandas as pd

from suiteopt.audit.checks import Check
from suiteopt.exchange.elements import position_at
from suiteopt.exchange.outcomes import Outcomes
from suiteopt.exchange.words import SCHEMA_VERSION, MutantStatus
from suiteopt.matrix.schema import ImplementationClass, Kind
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.tables import source_file

THRESHOLDS = {"high": 95, "low": 80}
"""Where the viewer turns from red to amber, and to green; percent."""

UNPLACED = "unplaced"
"""File of mutants whose source does not travel with the matrix."""

_LANGUAGES = {
    "cu": "cpp",
    "cuh": "cpp",
    "cpp": "cpp",
    "h": "cpp",
    "java": "java",
    "js": "javascript",
    "py": "python",
    "ts": "typescript",
}


def stryker_report(matrix: Matrix, check: Check, found: Iterable[Outcomes]) -> dict[str, Any]:
    """Return the report.

    The viewer's score, (Killed + Timeout) / (those + Survived), is the check's detection: mutants
    that do not count in the denominator are ``Ignored``, with the reason; stillborn ones are
    ``CompileError``. A mutant that no input kills and that some input was not run on is
    ``Pending``: the viewer leaves it out of the score, where the detection counts it as missed.

    Parameters
    ----------
    matrix : Matrix
    check : Check
    found : iterable of Outcomes

    Returns
    -------
    dict
        JSON, by schema version 2.
    """
    files: dict[str, dict[str, Any]] = {}
    tests: dict[str, Any] = {}
    for part in found:
        prefix = f"{part.problem}:"
        tests[part.problem] = {
            "tests": [{"id": name, "name": name.removeprefix(prefix)} for name in part.inputs]
        }
        judged = {name: row for row, name in enumerate(part.mutants)}
        rows = matrix.implementations_of(part.problem)
        for _, row in rows[rows["kind"] == str(Kind.MUTANT)].iterrows():
            file, location = _place(matrix, part.problem, row, files)
            files[file]["mutants"].append(
                {
                    "id": str(row["implementation"]),
                    "mutatorName": "+".join(str(rule) for rule in row["rules"]) or "unspecified",
                    "description": str(row["family"]),
                    "replacement": str(row["after"]),
                    "location": location,
                    **_verdict(part, judged.get(str(row["implementation"])), row),
                }
            )
    return {
        "schemaVersion": SCHEMA_VERSION,
        "thresholds": THRESHOLDS,
        "files": files,
        "testFiles": tests,
        "framework": {"name": "suiteopt", "version": version("kernel-suiteopt")},
        "config": {
            "matrix": matrix.id,
            "label": matrix.meta.label,
            "check": check.name,
            "oracle": check.oracle.name,
        },
    }


def _verdict(part: Outcomes, position: int | None, row: "pd.Series[Any]") -> dict[str, Any]:
    if position is None:
        status, reason = _outside(row)
        return {"status": str(status), "statusReason": reason}
    kills, ran = part.kills[position], part.ran[position]
    killers = [name for name, kill in zip(part.inputs, kills, strict=True) if kill]
    status = MutantStatus.SURVIVED if ran.all() else MutantStatus.PENDING
    if killers:
        only_hangs = bool((part.timeouts[position] == kills).all())
        status = MutantStatus.TIMEOUT if only_hangs else MutantStatus.KILLED
    return {
        "status": str(status),
        "killedBy": killers,
        "coveredBy": list(part.inputs),
        "testsCompleted": int(ran.sum()),
    }


def _outside(row: "pd.Series[Any]") -> tuple[MutantStatus, str]:
    """Status and reason of a mutant that is not in the denominator."""
    if row["locked"]:
        return MutantStatus.IGNORED, "its rule is set aside"
    if row["class"] == str(ImplementationClass.STILLBORN):
        return MutantStatus.COMPILE_ERROR, str(row["error"])
    if row["class"] == str(ImplementationClass.EQUIVALENT):
        return MutantStatus.IGNORED, "the machine code equals the substrate's"
    if row["class"] == str(ImplementationClass.DUPLICATE):
        return MutantStatus.IGNORED, f"the machine code equals that of {row['duplicate_of']}"
    return MutantStatus.IGNORED, "no witness shows that it is wrong"


def _place(
    matrix: Matrix, problem: str, row: "pd.Series[Any]", files: dict[str, dict[str, Any]]
) -> tuple[str, dict[str, Any]]:
    """Return the file of a mutant, made if it is new, and where in it the edit is."""
    site = row["sites"][0] if len(row["sites"]) else None
    name = UNPLACED if site is None else str(site["file"])
    carried = site is not None and source_file(problem, name) in matrix.meta.files
    file = f"{problem}/{name or UNPLACED}"
    if file not in files:
        source = matrix.source(problem, name) if carried else ""
        end = name.rpartition(".")[2]
        files[file] = {"language": _LANGUAGES.get(end, "text"), "source": source, "mutants": []}
    if site is None:
        start = stop = {"line": 1, "column": 1}
    elif carried:
        source = files[file]["source"]
        start, stop = (position_at(source, int(site[key])) for key in ("start", "end"))
    else:
        start = {"line": max(1, int(site["line"])), "column": max(1, int(site["column"]))}
        stop = {
            "line": max(start["line"], int(site["end_line"])),
            "column": max(1, int(site["end_column"])),
        }
    return file, {"start": start, "end": stop}
