"""Reports in the mutation-testing-elements schema: Stryker's, and those of many other tools."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from suiteopt.errors import UserError
from suiteopt.exchange.elements import byte_offset, check_report
from suiteopt.exchange.words import MutantStatus
from suiteopt.importers.evidence import Row, columns, covered_row, stopped_row
from suiteopt.importers.files import read_text
from suiteopt.importers.killmap import (
    ForeignMutant,
    KillMap,
    Outcome,
    Place,
    check_unique,
    empty_outcomes,
)
from suiteopt.matrix.schema import ImplementationClass

_LEFT_OUT = {MutantStatus.IGNORED}
_NO_RESULT = {MutantStatus.COMPILE_ERROR, MutantStatus.RUNTIME_ERROR}


def read_stryker(path: Path) -> KillMap:
    """Read a report.

    ``CompileError`` and ``RuntimeError`` are no kills (the mutant was never judged) and become
    stillborn; ``Ignored`` mutants are left out. A test that is not in ``coveredBy`` never reaches
    the mutant. Whether all that are in it ran is told by ``testsCompleted``.

    Raises
    ------
    UserError
        If the file is no such report, or names no tests.
    """
    try:
        text = read_text(path)
        report = json.loads(text)
        if "\\ud" in text.lower():  # half of a pair, which no file or table can hold
            json.dumps(report, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is no JSON file; give a mutation report") from error
    check_report(report, str(path))
    titles = _tests(report)
    tests = tuple(titles)
    index = {name: column for column, name in enumerate(tests)}
    where = str(path)
    mutants: list[ForeignMutant] = []
    rows: list[Row] = []
    ignored, gap = 0, ""
    for file, part in sorted(report["files"].items()):
        for found in part["mutants"]:
            status = MutantStatus(found["status"])
            if status in _LEFT_OUT:
                ignored += 1
                continue
            name = f"mutant {found['id']} of {where}"
            row = _row(found, status, index, name)
            mutants.append(_mutant(found, status, file, part["source"]))
            rows.append(row)
            if not gap and status not in _NO_RESULT and np.any(row == Outcome.UNKNOWN):
                gap = _why(found, status)
    if not tests:
        raise UserError(
            f"{path} names no tests, so it says that mutants were killed and not by what; "
            "let the tool write killedBy and coveredBy (in Stryker: coverageAnalysis perTest)"
        )
    check_unique([mutant.name for mutant in mutants], "mutant", where)
    outcomes = empty_outcomes(len(mutants), len(tests), where)
    outcomes[:] = np.stack(rows)
    framework = str(report.get("framework", {}).get("name") or "mutation-testing-elements")
    return KillMap(
        tool=framework,
        tests=tests,
        titles=tuple(titles.values()),
        mutants=tuple(mutants),
        outcomes=outcomes,
        sources={file: part["source"] for file, part in report["files"].items()},
        notes=(f"{ignored} ignored mutants are left out",) if ignored else (),
        gap=gap,
    )


def _tests(report: Mapping[str, Any]) -> dict[str, str]:
    """Titles by id: those that are defined first, then those that only mutants name."""
    titles: dict[str, str] = {}
    for part in report.get("testFiles", {}).values():
        for test in part["tests"]:
            titles.setdefault(test["id"], test["name"])
    named: set[str] = set()
    for part in report["files"].values():
        for found in part["mutants"]:
            named.update(found.get("coveredBy", ()), found.get("killedBy", ()))
    return titles | {name: name for name in sorted(named - set(titles))}


def _row(
    found: Mapping[str, Any], status: MutantStatus, index: Mapping[str, int], where: str
) -> Row:
    width = len(index)
    failed = columns(found.get("killedBy", ()), index, where)
    covered = list(range(width))
    if "coveredBy" in found:
        listed = columns(found["coveredBy"], index, where)
        # A mutant that is executed while the program loads is reached by every test, whatever
        # the list says; so is one on which more tests ran than are listed.
        if not found.get("static") and found.get("testsCompleted", 0) <= len({*listed, *failed}):
            covered = listed
    if status in _NO_RESULT:
        return np.zeros(width, dtype=np.int8)
    if failed and status in (MutantStatus.SURVIVED, MutantStatus.NO_COVERAGE):
        raise UserError(f"{where} is {status} and has a killedBy; let the tool write it again")
    if status == MutantStatus.NO_COVERAGE:
        return np.full(width, Outcome.UNCOVERED, dtype=np.int8)
    if status == MutantStatus.TIMEOUT:
        return stopped_row(width, covered, failed, Outcome.TIMEOUT)
    if status == MutantStatus.PENDING:
        return stopped_row(width, covered, (), Outcome.UNKNOWN)
    if status == MutantStatus.SURVIVED:
        return covered_row(width, covered, (), len(covered))
    if not failed:
        return stopped_row(width, covered, (), Outcome.FAILED)
    done = found.get("testsCompleted")
    return covered_row(width, covered, failed, None if done is None else int(done))


def _why(found: Mapping[str, Any], status: MutantStatus) -> str:
    done, covering = found.get("testsCompleted"), found.get("coveredBy")
    if status == MutantStatus.KILLED and not found.get("killedBy"):
        return f"mutant {found['id']} was killed, and by which tests is not told"
    if status == MutantStatus.KILLED and covering is not None and done is not None:
        return (
            f"of mutant {found['id']} {done:g} of {len(covering)} covering tests ran: the tool "
            "stopped at a failure (in Stryker: disableBail)"
        )
    return f"of mutant {found['id']} ({status}) it is not told what each test did"


def _mutant(
    found: Mapping[str, Any], status: MutantStatus, file: str, source: str
) -> ForeignMutant:
    start, end = found["location"]["start"], found["location"]["end"]
    first, last = byte_offset(source, start), byte_offset(source, end)
    told = 0 <= first <= last
    place = Place(
        file=file,
        line=int(start["line"]),
        column=int(start["column"]),
        end_line=int(end["line"]),
        end_column=int(end["column"]),
        start=first if told else 0,
        end=last if told else 0,
    )
    before = source.encode()[first:last].decode(errors="replace") if told else ""
    dead = status in _NO_RESULT
    return ForeignMutant(
        name=str(found["id"]),
        rule=found["mutatorName"],
        place=place,
        before=before,
        after=str(found.get("replacement", "")),
        kind=ImplementationClass.STILLBORN if dead else ImplementationClass.VALID,
        error=str(found.get("statusReason", "")) if dead else "",
    )
