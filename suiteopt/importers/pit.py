"""Reports of PIT: ``mutations.xml``, written with ``fullMutationMatrix``."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from suiteopt.errors import UserError
from suiteopt.importers.evidence import Row, covered_row, stopped_row
from suiteopt.importers.files import whole_number
from suiteopt.importers.killmap import ForeignMutant, KillMap, Outcome, Place, empty_outcomes
from suiteopt.importers.xml import Element, read_elements
from suiteopt.matrix.schema import ImplementationClass

_CLASSES = {
    "NON_VIABLE": ImplementationClass.STILLBORN,
    "EQUIVALENT": ImplementationClass.EQUIVALENT,
}
_RAN = frozenset({"KILLED", "SURVIVED", "NO_COVERAGE", "TIMED_OUT", "MEMORY_ERROR"})
_NO_RESULT = frozenset({"RUN_ERROR", "NOT_STARTED", "STARTED"})


def read_pit(path: Path) -> KillMap:
    """Read a report.

    PIT itself counts ``NON_VIABLE``, ``RUN_ERROR`` and ``EQUIVALENT`` as detected. Here the first
    are stillborn, the last equivalent, and a run that failed for reasons of its own is left out:
    none of them says that a test found anything.

    Raises
    ------
    UserError
        If the file is no such report, or has a killing test only, not all of them.
    """
    found = read_elements(path, "mutations", "mutation")
    where = str(path)
    tests = sorted({name for element in found for name in _listed(element)})
    if not tests:
        raise UserError(_not_full(path))
    index = {name: column for column, name in enumerate(tests)}
    names: Counter[str] = Counter()
    mutants: list[ForeignMutant] = []
    rows: list[Row] = []
    left_out, gap = 0, ""
    for element in found:
        status = element.attributes.get("status", "")
        if status in _NO_RESULT:
            left_out += 1
            continue
        if status not in _RAN and status not in _CLASSES:
            raise UserError(f"{path} has the status {status!r}, which PIT does not write")
        if "killingTest" in element.texts and "killingTests" not in element.texts:
            raise UserError(_not_full(path))
        if status in ("SURVIVED", "NO_COVERAGE") and _names(element.texts, "killingTests"):
            raise UserError(f"{path} has a {status} mutant with killing tests; write it again")
        row = _row(element, status, index)
        mutant = _mutant(element, status, names)
        if not gap and status in _RAN and np.any(row == Outcome.UNKNOWN):
            gap = f"of {mutant.name} ({status}) it is not told what each test did"
        mutants.append(mutant)
        rows.append(row)
    outcomes = empty_outcomes(len(mutants), len(tests), where)
    outcomes[:] = np.stack(rows)
    notes = (f"{left_out} mutants without a result are left out",) if left_out else ()
    return KillMap("PIT", tuple(tests), tuple(tests), tuple(mutants), outcomes, {}, notes, gap)


def _not_full(path: Path) -> str:
    return (
        f"{path} does not list all tests of a mutant, so it is no kill matrix; "
        "run PIT with fullMutationMatrix=true and the XML format"
    )


def _listed(element: Element) -> set[str]:
    lists = ("killingTests", "succeedingTests", "coveringTests")
    return {name for key in lists for name in _names(element.texts, key)}


def _names(texts: Mapping[str, str], key: str) -> list[str]:
    return [name for name in texts.get(key, "").split("|") if name]


def _row(element: Element, status: str, index: Mapping[str, int]) -> Row:
    width = len(index)
    if status in _CLASSES:
        return np.zeros(width, dtype=np.int8)
    failed = [index[name] for name in _names(element.texts, "killingTests")]
    passed = [index[name] for name in _names(element.texts, "succeedingTests")]
    covered = [index[name] for name in _names(element.texts, "coveringTests")] or passed
    if status in ("TIMED_OUT", "MEMORY_ERROR"):
        outcome = Outcome.TIMEOUT if status == "TIMED_OUT" else Outcome.CRASHED
        if not (covered or failed):  # nothing tells which tests reach it
            return np.zeros(width, dtype=np.int8)
        row = stopped_row(width, [*covered, *passed], failed, outcome)
        row[passed] = Outcome.PASSED
        return row
    if status == "KILLED" and not failed:
        row = stopped_row(width, covered, (), Outcome.FAILED)
        row[passed] = Outcome.UNKNOWN  # some test killed it, and these lists name none
        return row
    told = whole_number(element.attributes.get("numberOfTestsRun", ""))
    if told is not None and told != len({*failed, *passed}):
        # A name that holds the separator, or a run that stopped: the lists do not add up.
        row = covered_row(width, list(range(width)), failed, None)
        row[failed] = Outcome.FAILED
        return row
    row = covered_row(width, [*covered, *passed], failed, None)
    row[passed] = Outcome.PASSED
    return row


def _mutant(element: Element, status: str, names: Counter[str]) -> ForeignMutant:
    texts = element.texts
    rule = texts.get("mutator", "").rpartition(".")[2]
    place = ".".join(texts.get(key, "") for key in ("mutatedClass", "mutatedMethod"))
    line = texts.get("lineNumber", "1")
    indexes = "-".join(element.lists.get("index", ())) or texts.get("index", "")
    name = f"{place}{texts.get('methodDescription', '')}:{line}:{rule}:{indexes}"
    names[name] += 1
    if names[name] > 1:
        name = f"{name}#{names[name]}"
    number = whole_number(line) or 1
    dead = status == "NON_VIABLE"
    return ForeignMutant(
        name=name,
        rule=rule,
        place=Place(texts.get("sourceFile", ""), number),
        after=texts.get("description", ""),
        kind=_CLASSES.get(status, ImplementationClass.VALID),
        error="not viable" if dead else "",
    )
