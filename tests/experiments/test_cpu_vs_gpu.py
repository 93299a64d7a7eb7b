"""Why two devices disagree about a cell: each reason from cells that have it, and the tables."""

import json
from pathlib import Path
from typing import Any

import pytest

from experiments.comparison import RESULTS
from experiments.cpu_vs_gpu import compared, main, report
from experiments.cpu_vs_gpu_reasons import REASONS, Evidence, explain
from suiteopt.matrix.schema import COUNTS, Status
from tests.suiteopt.builders import tiny_matrix

PROBLEM = "level1/001"


def cell(error: float = 1e-7, status: Status = Status.OK, **more: Any) -> dict[str, Any]:
    counts = {str(count): 0 for count in COUNTS}
    return {"status": str(status), "disagreed": 0, "allclose_candidate": error} | counts | more


def evidence(**more: Any) -> Evidence:
    usual: dict[str, Any] = {
        "column": "allclose_candidate",
        "family": "arithmetic",
        "unsteady": (False, False),
        "substrate": (1e-7, 1e-7),
        "limits": (1e-4, 1e-4),
    }
    return Evidence(**(usual | more))


NAN: dict[str, Any] = {"nan_one": 3}


@pytest.mark.parametrize(
    ("reason", "cpu", "gpu", "more"),
    [
        ("fatal", cell(status=Status.CRASH), cell(disagreed=1), {}),
        ("fatal", cell(), cell(status=Status.CLOSED), {}),
        ("undefined", cell(status=Status.OUT_OF_BOUNDS, **NAN), cell(status=Status.UNWRITTEN), {}),
        ("unwritten memory", cell(status=Status.NONFINITE, **NAN), cell(disagreed=1), {}),
        ("unwritten memory", cell(), cell(status=Status.NONFINITE, **NAN), {}),
        ("race", cell(disagreed=1, **NAN), cell(), {"unsteady": (True, False)}),
        ("race", cell(1.0), cell(), {"unsteady": (True, True), "family": "indexing"}),
        ("guard word", cell(status=Status.OUT_OF_BOUNDS), cell(1.0), {"family": "boundary"}),
        ("stale output", cell(status=Status.UNWRITTEN), cell(status=Status.NONFINITE, **NAN), {}),
        (
            "stale output",
            cell(status=Status.OUT_OF_BOUNDS),
            cell(status=Status.OUT_OF_BOUNDS, **NAN),
            {},
        ),
        ("reference", cell(1e-3), cell(1e-7), {"substrate": (1e-3, 1e-7)}),
        ("tolerance", cell(2e-6), cell(2.1e-6), {"limits": (1.9e-6, 3e-6)}),
        ("rounding", cell(1.0001e-4), cell(0.9999e-4), {}),
        ("neighbour", cell(0.5), cell(), {"family": "boundary"}),
        ("value", cell(0.5), cell(), {"family": "arithmetic"}),
    ],
)
def test_the_first_reason_that_holds(
    reason: str, cpu: dict[str, Any], gpu: dict[str, Any], more: dict[str, Any]
) -> None:
    assert explain(cpu, gpu, evidence(**more)) == reason


def test_every_reason_has_a_case_above() -> None:
    marks = test_the_first_reason_that_holds.pytestmark
    assert {case[0] for case in marks[0].args[1]} == set(REASONS)


def test_two_matrices_are_compared_and_written(tmp_path: Path) -> None:
    rows: list[list[Any]] = [[1, 0], [0, 1], [0, 0]]
    cpu = tiny_matrix(tmp_path / "cpu", {PROBLEM: rows})
    other: list[list[Any]] = [[0, 0], [0, 1], [Status.CRASH, 0]]
    gpu = tiny_matrix(tmp_path / "gpu", {PROBLEM: other}, device="cuda", witness="contract")
    found = compared(cpu, gpu)
    for row in found["oracles"]:
        assert (row["differ"], row["mutants"], row["killed on the CPU alone"]) == (2, 2, 1)
        assert (row["fatal"], row["value"]) == (1, 1)
        assert sum(row[reason] for reason in REASONS) == row["differ"]
    named = {(d["implementation"], d["killed_on"], d["inputs"]) for d in found["differences"]}
    assert named == {(f"{PROBLEM}:m0", "cpu", "i0"), (f"{PROBLEM}:m2", "gpu", "i0")}
    assert main([str(cpu.path), str(gpu.path), "--results", str(tmp_path)]) == 0
    record = json.loads((tmp_path / "cpu_vs_gpu.json").read_text())
    assert (tmp_path / "cpu_vs_gpu.md").read_text() == report(record)


def test_matrices_of_other_inputs_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cpu = tiny_matrix(tmp_path / "cpu")
    gpu = tiny_matrix(tmp_path / "gpu", inputs={f"{PROBLEM}:i0": {"shape": {"N": 17}}})
    assert main([str(cpu.path), str(gpu.path), "--results", str(tmp_path / "no")]) == 2
    assert "shape differs" in capsys.readouterr().err
    assert not (tmp_path / "no").exists()


def test_the_page_in_the_checkout_is_its_record() -> None:
    record = json.loads((RESULTS / "cpu_vs_gpu.json").read_text())
    assert (RESULTS / "cpu_vs_gpu.md").read_text() == report(record)
    for row in record["oracles"]:
        cells = [d for d in record["differences"] if d["oracle"] == row["oracle"]]
        assert sum(d["cells"] for d in cells) == row["differ"]
        assert sum(row[reason] for reason in REASONS) == row["differ"]
