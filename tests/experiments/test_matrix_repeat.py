"""Two runs of one command, side by side: known answers on small matrices."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from experiments import matrix_repeat
from experiments.comparison import RESULTS
from experiments.matrix_repeat import compare, main
from experiments.matrix_repeat_page import CAUSES, report
from experiments.two_matrices import cells_of
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Status
from suiteopt.matrix.store import Matrix
from tests.suiteopt.builders import tiny_matrix

PROBLEM = "level1/001"
KILLS: list[list[Any]] = [[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0], [1, 0, 1]]
"""Rows are of the families arithmetic, boundary, indexing, precision, semantic and
synchronization, in that order."""


def matrix(path: Path, changes: dict[tuple[int, int], Any] | None = None, **more: Any) -> Matrix:
    rows = [list(row) for row in KILLS]
    for (row, column), entry in (changes or {}).items():
        rows[row][column] = entry
    return tiny_matrix(path, {PROBLEM: rows}, **more)


def test_equal_runs_are_equal(tmp_path: Path) -> None:
    found = compare(matrix(tmp_path / "a"), matrix(tmp_path / "b"))
    cells = found["cells"]
    assert cells["equal"] == cells["in_both"] > 0
    assert (cells["differ"], cells["in_one_alone"]) == (0, 0)
    assert not found["unflagged"]["list"]
    assert not found["witnesses"]
    assert all(v["differ"] == 0 for v in found["verdicts"])
    for suites in found["suites"]:
        assert suites["same_members"] == suites["problems"]
        assert len({t["detected"] for t in suites["detected"].values()}) == 1


def test_what_differs_is_counted_by_columns_causes_and_verdicts(tmp_path: Path) -> None:
    changes = {
        (0, 1): 1e-6,  # another value, no other verdict, of an arithmetic rule
        (1, 2): Status.CRASH,
        (2, 0): 1,  # killed now
        (3, 0): Status.OUT_OF_BOUNDS,
        (5, 1): 2e-7,
    }
    found = compare(matrix(tmp_path / "a"), matrix(tmp_path / "b", changes))
    assert found["cells"]["differ"] == 5
    assert found["cells"]["differ_by_columns"]["status"] == 2
    assert found["cells"]["differ_by_columns"]["statistics"] == 5
    assert found["implementations_that_differ"]["mutant"] == {
        "implementations": 6,
        "differ": 5,
        "cells": 5,
    }
    assert found["implementations_that_differ"]["control"]["differ"] == 0
    causes = {e["implementation"][-2:]: list(e["causes"]) for e in found["unflagged"]["list"]}
    assert causes == {
        "m0": ["other"],
        "m1": ["exception"],
        "m2": ["index"],
        "m3": ["outside"],
        "m5": ["race"],
    }
    assert set(CAUSES) >= {c for names in causes.values() for c in names}
    for verdicts in found["verdicts"][:2]:
        assert (verdicts["differ"], verdicts["mutants"]) == (3, 3)
        assert set(verdicts["unflagged"]) == {f"{PROBLEM}:m{i}" for i in (1, 2, 3)}


def test_a_mutant_that_a_repeat_flagged_is_set_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = matrix(tmp_path / "a"), matrix(tmp_path / "b", {(2, 0): 1, (4, 0): 1})

    def with_flag(of: Matrix, problem: str) -> pd.DataFrame:
        cells = cells_of(of, problem)
        if of is second:
            cells.loc[(f"{PROBLEM}:m2", f"{PROBLEM}:i1"), "disagreed"] = 1
        return cells

    monkeypatch.setattr(matrix_repeat, "cells_of", with_flag)
    found = compare(first, second)
    assert (found["flagged"]["in_A"], found["flagged"]["in_B"]) == (0, 1)
    assert [e["implementation"] for e in found["unflagged"]["list"]] == [f"{PROBLEM}:m4"]
    assert found["verdicts"][0]["differ"] == 2
    assert found["verdicts"][0]["of_flagged_mutants"] == 1


def test_a_witness_that_differs_is_named(tmp_path: Path) -> None:
    other = matrix(tmp_path / "b", mutants={f"{PROBLEM}:m4": {"witness": "none"}})
    found = compare(matrix(tmp_path / "a"), other)
    assert found["witnesses"] == [
        {"mutant": f"{PROBLEM}:m4", "A": "profile error", "B": "none error"}
    ]
    assert f"{PROBLEM}:m4 (profile error in A, none error in B)" in report(found)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"inputs": {f"{PROBLEM}:i1": {"seed": 99}}}, "seed differs"),
        ({"witness_inputs": 2}, "the input level1/001:w1 is in one"),
        ({"controls": ("serial",)}, "is in one of the two matrices alone"),
        ({"mutants": {f"{PROBLEM}:m0": {"class": "equivalent"}}}, "not the same implementation"),
    ],
)
def test_runs_of_other_questions_are_refused(
    tmp_path: Path, more: dict[str, Any], says: str
) -> None:
    first, second = matrix(tmp_path / "a"), matrix(tmp_path / "b", **more)
    with pytest.raises(UserError, match=says):
        compare(first, second)
    results = tmp_path / "results"
    assert main([str(first.path), str(second.path), "--results", str(results)]) == 2
    assert not results.exists()


def test_both_files_are_written_and_agree(tmp_path: Path) -> None:
    matrix(tmp_path / "a"), matrix(tmp_path / "b", {(2, 0): 1})
    assert main([str(tmp_path / "a"), str(tmp_path / "b"), "--results", str(tmp_path)]) == 0
    record = json.loads((tmp_path / "matrix_repeat.json").read_text())
    page = (tmp_path / "matrix_repeat.md").read_text()
    assert page == report(record)
    assert "| mutant | 6 | 1 | 1 |" in page


def test_the_page_in_the_checkout_is_its_record() -> None:
    record = json.loads((RESULTS / "matrix_repeat.json").read_text())
    assert (RESULTS / "matrix_repeat.md").read_text() == report(record)
    cells = record["cells"]
    assert cells["equal"] + cells["differ"] == cells["in_both"]
    assert record["flagged"]["cells"] + record["unflagged"]["cells"] == cells["differ"]
    assert sum(e["cells"] for e in record["unflagged"]["list"]) == record["unflagged"]["cells"]
