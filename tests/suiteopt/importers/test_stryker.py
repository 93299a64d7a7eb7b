"""Stryker's reports: what each status says of each test, and which reports are no kill matrix."""

from pathlib import Path
from typing import Any

import pytest

from suiteopt.errors import UserError
from suiteopt.importers.killmap import KillMap, Outcome
from suiteopt.importers.stryker import read_stryker
from suiteopt.matrix.schema import ImplementationClass
from tests.suiteopt.importers.documents import save, stryker, stryker_mutant

P, N, F, T, U = (
    Outcome.PASSED,
    Outcome.UNCOVERED,
    Outcome.FAILED,
    Outcome.TIMEOUT,
    Outcome.UNKNOWN,
)


def read(tmp_path: Path, *mutants: dict[str, Any], **keys: Any) -> KillMap:
    return read_stryker(save(tmp_path / "mutation.json", stryker(mutants, **keys)))


@pytest.mark.parametrize(
    ("status", "keys", "expected"),
    [
        ("Survived", {"coveredBy": ["a", "c"], "testsCompleted": 2}, [P, N, P]),
        ("Survived", {}, [P, P, P]),
        ("NoCoverage", {}, [N, N, N]),
        ("Killed", {"killedBy": ["a"], "coveredBy": ["a", "b"], "testsCompleted": 2}, [F, P, N]),
        ("Killed", {"killedBy": ["a", "b"], "coveredBy": ["a", "b"]}, [F, F, N]),
        ("Killed", {"killedBy": ["a"], "coveredBy": ["a", "b"], "testsCompleted": 1}, [F, U, N]),
        ("Killed", {"killedBy": ["a"]}, [F, U, U]),
        ("Killed", {"coveredBy": ["a", "b"], "testsCompleted": 2}, [U, U, N]),
        ("Killed", {"coveredBy": ["b"]}, [N, F, N]),
        ("Killed", {"killedBy": ["a"], "coveredBy": ["a"], "static": True}, [F, U, U]),
        ("Killed", {"killedBy": ["a"], "coveredBy": ["a"], "testsCompleted": 3}, [F, P, P]),
        ("Survived", {"coveredBy": ["a"], "static": True}, [P, P, P]),
        ("Timeout", {"coveredBy": ["b"]}, [N, T, N]),
        ("Timeout", {"coveredBy": ["a", "b"]}, [U, U, N]),
        ("Pending", {"coveredBy": ["a"]}, [U, N, N]),
    ],
)
def test_a_status_becomes_outcomes(
    tmp_path: Path, status: str, keys: dict[str, Any], expected: list[Outcome]
) -> None:
    found = read(tmp_path, stryker_mutant("1", status, **keys))
    assert found.outcomes.tolist() == [expected]
    assert bool(found.gap) == (U in expected)


def test_a_bailed_run_is_said_to_be_one(tmp_path: Path) -> None:
    bailed = stryker_mutant(
        "7", "Killed", killedBy=["a"], coveredBy=["a", "b", "c"], testsCompleted=1
    )
    assert read(tmp_path, bailed).gap == (
        "of mutant 7 1 of 3 covering tests ran: the tool stopped at a failure (in Stryker: "
        "disableBail)"
    )


def test_what_was_never_judged_is_no_kill(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        stryker_mutant("1", "CompileError", statusReason="TS2322"),
        stryker_mutant("2", "RuntimeError", killedBy=["a"]),
        stryker_mutant("3", "Ignored"),
        stryker_mutant("4", "Survived"),
    )
    stillborn, valid = ImplementationClass.STILLBORN, ImplementationClass.VALID
    assert [m.kind for m in found.mutants] == [stillborn, stillborn, valid]
    assert found.mutants[0].error == "TS2322"
    assert found.killed == 0
    assert found.gap == ""
    assert found.notes == ("1 ignored mutants are left out",)


def test_the_edit_and_its_place_come_along(tmp_path: Path) -> None:
    mutant = read(tmp_path, stryker_mutant("1", "Survived")).mutants[0]
    assert (mutant.rule, mutant.before, mutant.after) == ("ArithmeticOperator", "+", "-")
    assert mutant.place is not None
    assert (mutant.place.file, mutant.place.line, mutant.place.start) == ("src/f.js", 2, 30)


def test_tests_that_only_mutants_name_are_tests(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        stryker_mutant("1", "Killed", killedBy=["z"], coveredBy=["z"]),
        tests=("a",),
    )
    assert found.tests == ("a", "z")
    assert found.titles == ("test a", "z")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"schemaVersion": "3"}, "schemaVersion '3'"),
        ({"schemaVersion": 2}, "schemaVersion of the root is no text"),
        ({"thresholds": {"high": 101, "low": 0}}, "thresholds.high"),
        ({"files": []}, "files is no object"),
        ({"files": {"f": {"language": "js", "mutants": []}}}, "source of file 'f'"),
        ({"testFiles": {"t": {"tests": [{"id": "a"}]}}}, "name of test file 't'"),
    ],
)
def test_a_broken_rule_of_the_schema_is_named(
    tmp_path: Path, change: dict[str, Any], sentence: str
) -> None:
    path = save(tmp_path / "m.json", stryker([stryker_mutant("1", "Survived")]) | change)
    with pytest.raises(UserError, match="is no mutation report") as error:
        read_stryker(path)
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"status": "Dead"}, "the status 'Dead'"),
        ({"location": {"start": {"line": 0, "column": 1}}}, "location.start.line"),
        ({"killedBy": "a"}, "killedBy of mutant '1'"),
        ({"testsCompleted": True}, "testsCompleted"),
        ({"testsCompleted": -1}, "testsCompleted"),
        ({"testsCompleted": float("inf")}, "testsCompleted"),
        ({"testsCompleted": float("nan")}, "testsCompleted"),
        ({"testsCompleted": 10**300}, "testsCompleted"),
        ({"id": 1}, "id of file"),
        ({"killedBy": ["b"]}, "is Survived and has a killedBy"),
    ],
)
def test_a_broken_mutant_is_named(tmp_path: Path, change: dict[str, Any], sentence: str) -> None:
    mutant = stryker_mutant("1", "Survived") | change
    with pytest.raises(UserError) as error:
        read(tmp_path, mutant)
    assert sentence in str(error.value)


def test_a_report_without_tests_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="names no tests"):
        read(tmp_path, stryker_mutant("1", "Survived"), tests=())


def test_deep_nesting_and_bytes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is no JSON file"):
        read_stryker(save(tmp_path / "deep.json", "[" * 200_000))
    with pytest.raises(UserError, match="is no JSON file"):
        read_stryker(save(tmp_path / "half.json", '{"files": "\\ud800"}'))
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe{}")
    with pytest.raises(UserError, match="is no UTF-8 text"):
        read_stryker(tmp_path / "bytes.json")
