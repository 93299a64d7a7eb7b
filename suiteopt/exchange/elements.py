"""The mutation-testing-elements schema, major versions 1 and 2: its rules, and its positions."""

from collections.abc import Mapping
from typing import Any

from suiteopt.errors import UserError
from suiteopt.exchange.words import MutantStatus

_LATEST = 2
_TEXTS = ("description", "replacement", "statusReason")


class _Refusal(Exception):
    """Where a report breaks a rule."""


def check_report(report: Any, where: str) -> None:
    """Refuse what is no report of the schema.

    Keys that the schema does not name are allowed, as it says. What is not read (performance,
    system, branding) is not checked.

    Parameters
    ----------
    report : Any
        Parsed JSON.
    where : str
        What an error calls it.

    Raises
    ------
    UserError
    """
    try:
        _report(report)
    except _Refusal as error:
        raise UserError(
            f"{where} is no mutation report (mutation-testing-elements): {error}; give the JSON "
            "report of Stryker or of a tool that writes the same form"
        ) from error


def byte_offset(source: str, position: Mapping[str, int]) -> int:
    """Return the offset in UTF-8 of a position, or -1 where the text has none such.

    Lines and columns count from 1; columns in UTF-16 units, as editors and JavaScript do.
    """
    lines = source.split("\n")
    row, column = int(position["line"]) - 1, int(position["column"]) - 1
    if row >= len(lines):
        return -1
    units = lines[row].encode("utf-16-le", errors="surrogatepass")
    if 2 * column > len(units):
        return -1
    head = units[: 2 * column].decode("utf-16-le", errors="replace")
    before = sum(len(line.encode()) + 1 for line in lines[:row])
    return before + len(head.encode())


def position_at(source: str, offset: int) -> dict[str, int]:
    """Return the position of an offset in UTF-8; the inverse of `byte_offset`."""
    head = source.encode()[:offset].decode(errors="ignore")
    line = head.count("\n") + 1
    rest = head.rpartition("\n")[2]
    return {"line": line, "column": len(rest.encode("utf-16-le")) // 2 + 1}


def _report(report: Any) -> None:
    root = _object(report, "the root")
    version = _text(root, "schemaVersion", "the root")
    major = version.split(".")[0]
    if not (major.isdecimal() and int(major[:9]) <= _LATEST):
        raise _Refusal(f"schemaVersion {version!r} is not one up to {_LATEST}")
    limits = _object(root.get("thresholds"), "thresholds")
    for key in ("high", "low"):
        value = limits.get(key)
        if not _is_whole(value, 0, 100):
            raise _Refusal(f"thresholds.{key} is no whole number from 0 to 100")
    if "framework" in root:
        _text(_object(root["framework"], "framework"), "name", "framework")
    for name, part in _object(root.get("files"), "files").items():
        _file(_object(part, f"file {name!r}"), f"file {name!r}")
    for name, part in _object(root.get("testFiles", {}), "testFiles").items():
        where = f"test file {name!r}"
        for test in _list(_object(part, where), "tests", where):
            _text(_object(test, f"a test of {where}"), "id", where)
            _text(test, "name", where)


def _file(part: Mapping[str, Any], where: str) -> None:
    _text(part, "language", where)
    _text(part, "source", where)
    for found in _list(part, "mutants", where):
        mutant = _object(found, f"a mutant of {where}")
        here = f"mutant {_text(mutant, 'id', where)!r} of {where}"
        _text(mutant, "mutatorName", here)
        status = _text(mutant, "status", here)
        if status not in set(MutantStatus):
            raise _Refusal(f"{here} has the status {status!r}")
        for key in _TEXTS:
            if key in mutant:
                _text(mutant, key, here)
        for key in ("coveredBy", "killedBy"):
            if key in mutant and not all(isinstance(n, str) for n in _list(mutant, key, here)):
                raise _Refusal(f"{key} of {here} holds something else than texts")
        done = mutant.get("testsCompleted", 0)
        counted = isinstance(done, int | float) and not isinstance(done, bool)
        if not counted or not 0 <= done < 2**53:  # JSON has 1e400 and NaN, which are no counts
            raise _Refusal(f"testsCompleted of {here} is no number from 0")
        place = _object(mutant.get("location"), f"the location of {here}")
        for end in ("start", "end"):
            point = _object(place.get(end), f"location.{end} of {here}")
            for key in ("line", "column"):
                if not _is_whole(point.get(key), 1, 2**31 - 1):
                    raise _Refusal(f"location.{end}.{key} of {here} is no whole number from 1")


def _object(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _Refusal(f"{where} is no object")
    return value


def _list(part: Mapping[str, Any], key: str, where: str) -> list[Any]:
    value = part.get(key)
    if not isinstance(value, list):
        raise _Refusal(f"{key} of {where} is no list")
    return value


def _text(part: Mapping[str, Any], key: str, where: str) -> str:
    value = part.get(key)
    if not isinstance(value, str):
        raise _Refusal(f"{key} of {where} is no text")
    return value


def _is_whole(value: Any, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
