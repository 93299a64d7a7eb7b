"""Plain CSV: a table of mutants by tests, or one line a pair."""

from pathlib import Path

from suiteopt.errors import UserError
from suiteopt.importers.files import read_rows, whole_number
from suiteopt.importers.killmap import (
    ForeignMutant,
    KillMap,
    Outcome,
    Place,
    check_unique,
    empty_outcomes,
)

LONG = ("mutant", "test", "result")
"""Header of the long form."""

DETAILS = ("@rule", "@file", "@line")
"""Columns of the wide form that tell of a mutant and are no tests."""

WORDS = {
    "": Outcome.UNKNOWN,
    "0": Outcome.PASSED,
    "1": Outcome.FAILED,
    "pass": Outcome.PASSED,
    "fail": Outcome.FAILED,
    "time": Outcome.TIMEOUT,
    "exc": Outcome.CRASHED,
    "uncovered": Outcome.UNCOVERED,
}


def read_plain(path: Path) -> KillMap:
    """Read a table.

    Wide: the first column names mutants, the header the tests, cells are ``0`` (passed), ``1``
    (failed), ``pass``, ``fail``, ``time``, ``exc``, ``uncovered``, or empty where nothing is known;
    columns ``@rule``, ``@file`` and ``@line`` tell of a mutant. Long: the columns ``mutant``,
    ``test``, ``result``; a pair without a line is not known.

    Raises
    ------
    UserError
        If it is neither.
    """
    rows = read_rows(path)
    header = [cell.lower() for cell in rows[0]]
    return _long(path, rows) if tuple(header) == LONG else _wide(path, rows)


def _long(path: Path, rows: list[list[str]]) -> KillMap:
    known: dict[tuple[str, str], Outcome] = {}
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(LONG) or not row[0] or not row[1]:
            raise UserError(f"{path} has no {', '.join(LONG)} in row {line}; write it again")
        if (row[0], row[1]) in known:
            raise UserError(f"{path} has mutant {row[0]!r} under test {row[1]!r} twice")
        known[row[0], row[1]] = _outcome(row[2], path, line)
    mutants = list(dict.fromkeys(mutant for mutant, _ in known))
    tests = list(dict.fromkeys(test for _, test in known))
    outcomes = empty_outcomes(len(mutants), len(tests), str(path))
    row_of = {name: position for position, name in enumerate(mutants)}
    column_of = {name: position for position, name in enumerate(tests)}
    for (mutant, test), outcome in known.items():
        outcomes[row_of[mutant], column_of[test]] = outcome
    gap = next(
        (
            f"of mutant {mutant!r} nothing is told under test {tests[column]!r}"
            for mutant, row in row_of.items()
            for column in range(len(tests))
            if outcomes[row, column] == Outcome.UNKNOWN
        ),
        "",
    )
    found = tuple(ForeignMutant(name) for name in mutants)
    return KillMap("CSV", tuple(tests), tuple(tests), found, outcomes, gap=gap)


def _wide(path: Path, rows: list[list[str]]) -> KillMap:
    header = rows[0]
    details = {name: header.index(name) for name in DETAILS if name in header}
    columns = [c for c in range(1, len(header)) if c not in details.values()]
    tests = [header[column] for column in columns]
    check_unique(tests, "test", str(path))
    check_unique([row[0] for row in rows[1:]], "mutant", str(path))
    outcomes = empty_outcomes(len(rows) - 1, len(tests), str(path))
    mutants, gap = [], ""
    for position, row in enumerate(rows[1:]):
        if len(row) != len(header):
            raise UserError(
                f"{path} has {len(row)} cells in row {position + 2} and {len(header)} in its header"
            )
        told = {name: row[column] for name, column in details.items()}
        mutants.append(_told(row[0], told, path, position + 2))
        for place, column in enumerate(columns):
            outcome = _outcome(row[column], path, position + 2)
            outcomes[position, place] = outcome
            if outcome == Outcome.UNKNOWN and not gap:
                gap = f"of mutant {row[0]!r} nothing is told under test {tests[place]!r}"
    return KillMap("CSV", tuple(tests), tuple(tests), tuple(mutants), outcomes, gap=gap)


def _told(name: str, told: dict[str, str], path: Path, line: int) -> ForeignMutant:
    number = told.get("@line", "")
    if number and whole_number(number) is None:
        raise UserError(f"{path} has the line {number!r} in row {line}, which is no number")
    place = None
    if told.get("@file") or number:
        place = Place(told.get("@file", ""), max(1, whole_number(number) or 1))
    return ForeignMutant(name, told.get("@rule", ""), place)


def _outcome(word: str, path: Path, line: int) -> Outcome:
    found = WORDS.get(word.lower())
    if found is None:
        raise UserError(
            f"{path} has {word!r} in row {line}; a cell is "
            f"{', '.join(name for name in WORDS if name)}, or empty"
        )
    return found
