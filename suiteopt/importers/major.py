"""Kill maps of Major: ``killMap.csv``, with ``testMap.csv``, ``covMap.csv``, ``mutants.log``."""

from collections.abc import Mapping
from pathlib import Path

from suiteopt.errors import UserError
from suiteopt.importers.files import read_rows, read_text, whole_number
from suiteopt.importers.killmap import ForeignMutant, KillMap, Outcome, Place, empty_outcomes

KILL_MAP = "killMap.csv"
HEADER = ("TestNo", "MutantNo")
_WORDS = {"FAIL": Outcome.FAILED, "TIME": Outcome.TIMEOUT, "EXC": Outcome.CRASHED}
_FIELDS = 7
"""Of a line of ``mutants.log``: number, operator, from, to, place, line, edit."""


def read_major(path: Path) -> KillMap:
    """Read a kill map, and what stands beside it under the same prefix.

    Without ``mutants.log`` only killed mutants are known. A mutant of the log that the kill map
    does not name survives. ``covMap.csv`` says which tests reach a mutant; without it all are
    taken to have run.

    Parameters
    ----------
    path : path
        ``killMap.csv``, ``<prefix>killMap.csv``, or the directory that holds the first.

    Raises
    ------
    UserError
        If a file is not in Major's form.
    """
    source = path / KILL_MAP if path.is_dir() else path
    rows = read_rows(source)
    if tuple(rows[0][:2]) != HEADER:
        raise UserError(
            f"{source} is no kill map of Major, it does not begin with {','.join(HEADER)}; "
            "give another --format"
        )
    kills: dict[tuple[int, int], Outcome] = {}
    for line, row in enumerate(rows[1:], start=2):
        test, mutant = _numbers(row, source, line)
        word = row[2] if len(row) > 2 else ""
        if word not in _WORDS:
            raise UserError(f"{source} has {word!r} in row {line}; there are {', '.join(_WORDS)}")
        if kills.setdefault((mutant, test), _WORDS[word]) != _WORDS[word]:
            raise UserError(f"{source} has two results of test {test} on mutant {mutant}")
    prefix = source.name.removesuffix(KILL_MAP)
    names = _test_names(source.with_name(f"{prefix}testMap.csv"))
    known = _mutants(source.with_name(f"{prefix}mutants.log"))
    reached = _coverage(source.with_name(f"{prefix}covMap.csv"))
    tests = sorted({test for _, test in kills} | set(names) | {test for _, test in reached or ()})
    numbers = sorted({mutant for mutant, _ in kills} | set(known or {}))
    outcomes = empty_outcomes(len(numbers), len(tests), str(source))
    outcomes[:] = Outcome.PASSED if reached is None else Outcome.UNCOVERED
    row_of = {mutant: row for row, mutant in enumerate(numbers)}
    column_of = {test: column for column, test in enumerate(tests)}
    for mutant, test in reached or ():
        if mutant in row_of:
            outcomes[row_of[mutant], column_of[test]] = Outcome.PASSED
    for (mutant, test), outcome in kills.items():
        outcomes[row_of[mutant], column_of[test]] = outcome
    notes = () if known is not None else (
        "no mutants.log stands beside it, so mutants that no test kills are not known of",
    )  # fmt: skip
    return KillMap(
        tool="Major",
        tests=tuple(str(test) for test in tests),
        titles=tuple(names.get(test, f"test {test}") for test in tests),
        mutants=tuple((known or {}).get(n, ForeignMutant(str(n))) for n in numbers),
        outcomes=outcomes,
        notes=notes,
    )


def is_kill_map(path: Path) -> bool:
    """Tell whether a path is a kill map of Major, or a directory with one."""
    if path.is_dir():
        return (path / KILL_MAP).is_file()
    return tuple(read_rows(path)[0][:2]) == HEADER


def _numbers(row: list[str], source: Path, line: int) -> tuple[int, int]:
    test, mutant = (whole_number(cell) for cell in (*row, "", "")[:2])
    if test is None or mutant is None:
        raise UserError(f"{source} has no two numbers in row {line}; write it again")
    return test, mutant


def _test_names(path: Path) -> Mapping[int, str]:
    if not path.is_file():
        return {}
    names: dict[int, str] = {}
    for line, row in enumerate(read_rows(path)[1:], start=2):
        test = whole_number(row[0])
        if len(row) < 2 or test is None:
            raise UserError(f"{path} has no test number and name in row {line}; write it again")
        names[test] = row[1]
    return names


def _coverage(path: Path) -> set[tuple[int, int]] | None:
    if not path.is_file():
        return None
    rows = read_rows(path)[1:]
    pairs = (_numbers(row, path, line) for line, row in enumerate(rows, start=2))
    return {(mutant, test) for test, mutant in pairs}


def _mutants(path: Path) -> dict[int, ForeignMutant] | None:
    if not path.is_file():
        return None
    found: dict[int, ForeignMutant] = {}
    for line in read_text(path).splitlines():
        if not line.strip():
            continue
        parts = line.split(":", _FIELDS - 1)
        number = whole_number(parts[0])
        row = whole_number(parts[5]) if len(parts) == _FIELDS else None
        if number is None or row is None:
            raise UserError(f"{path} has the line {line[:60]!r}, which is not of Major's log")
        before, _, after = parts[6].partition(" |==> ")
        place = Place(file=parts[4].partition("@")[0], line=max(1, row))
        found[number] = ForeignMutant(str(number), parts[1], place, before, after)
    return found
