import json
from pathlib import Path

import pandas as pd
import pytest

from suiteopt.matrix.behaviour import behaviours
from suiteopt.matrix.denominator import Denominator, denominator_mask, headline_scopes
from suiteopt.matrix.kill import kill_table
from suiteopt.matrix.oracle import parse_oracle
from suiteopt.matrix.schema import Status, WitnessScope
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.summary import summarise
from suiteopt.matrix.writer import MatrixWriter
from tests.suiteopt.builders import header, tiny_matrix

P = "level1/001"
FIXED = parse_oracle("fixed:1e-2")


def ids(*numbers: int) -> list[str]:
    return [f"{P}:m{number}" for number in numbers]


def test_equal_cells_are_one_behaviour(tmp_path: Path) -> None:
    crash = Status.CRASH
    rows = [[1, 0], [0, 1], [1, 0], [1, crash], [1, None], [1, crash], [1, 0.5]]
    matrix = tiny_matrix(tmp_path / "m", {P: rows})
    assert behaviours(matrix, P, ids(*range(7))).tolist() == [0, 1, 0, 2, 3, 2, 4]
    assert behaviours(matrix, P, ids(6, 2, 0, 5)).tolist() == [0, 1, 1, 2]
    assert behaviours(matrix, P, []).tolist() == []


def test_the_witness_pool_tells_behaviours_apart(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", {P: [[0], [0]]})
    cells = matrix.cells(P).astype({"implementation": str, "input": str, "status": str})
    assert behaviours(matrix, P, ids(0, 1)).tolist() == [0, 0]
    mine = (cells["implementation"] == f"{P}:m1") & (cells["input"] == f"{P}:w0")
    cells.loc[mine, "truth_rms"] = 0.25
    writer = MatrixWriter(matrix.path, header())
    writer.write_cells(P, cells)
    writer.finish(True)
    assert behaviours(Matrix.open(matrix.path), P, ids(0, 1)).tolist() == [0, 1]


def test_counts_of_a_hand_made_matrix(tmp_path: Path) -> None:
    rows = [[1, 0], [1, 0], [0, 1], [None, None], [None, None], [None, None], [1, 1], [0, 0]]
    changes = {
        f"{P}:m3": {"class": "stillborn", "error": "expected ';'"},
        f"{P}:m4": {"class": "equivalent"},
        f"{P}:m5": {"class": "duplicate", "duplicate_of": f"{P}:m0"},
        f"{P}:m6": {"locked": True},
        f"{P}:m7": {"witness": "none"},
        f"{P}:m1": {"rules": ["rule-0", "rule-1"]},
    }
    matrix = tiny_matrix(tmp_path / "m", {P: rows, "level1/019": [[1]]}, mutants=changes)
    summary = summarise(matrix)
    mutants = summary.mutants
    assert mutants.generated == 9
    assert (mutants.stillborn, mutants.equivalent, mutants.duplicate) == (1, 1, 1)
    assert (mutants.valid, mutants.locked) == (5, 1)
    assert mutants.witnessed == 4
    assert mutants.distinct == 3
    assert (summary.problems, summary.substrates, summary.nulls, summary.controls) == (2, 2, 2, 6)
    assert (summary.rules, summary.families) == (8, 6)
    assert summary.inputs == 3 + 2
    cells = sum(len(matrix.cells(problem)) for problem in matrix.problem_ids)
    assert summary.cells == cells == 8 * 3 - 6 + 4 * 3 + (1 + 4) * 2
    assert summary.complete
    answer = summary.as_dict()
    assert json.loads(json.dumps(answer)) == answer
    for key in ("problems", "substrates", "rules", "families", "mutants", "nulls", "controls"):
        assert key in answer
    for key in ("generated", "stillborn", "equivalent", "duplicate", "valid", "witnessed"):
        assert key in answer["mutants"]


def test_an_incomplete_matrix_is_summed_up_as_far_as_it_goes(tmp_path: Path) -> None:
    whole = tiny_matrix(tmp_path / "whole")
    writer = MatrixWriter(tmp_path / "part", header())
    writer.write_problems(whole.problems)
    writer.write_implementations(whole.implementations)
    writer.write_inputs(whole.inputs)
    cells = whole.cells(P).astype({"implementation": str, "input": str, "status": str})
    writer.write_cells(P, pd.DataFrame(cells))
    writer.finish(False)
    summary = summarise(Matrix.open(tmp_path / "part"))
    assert not summary.complete
    assert summary.problems == 2
    assert summary.cells == len(cells)


WITNESSES = ("contract", "profile", "other_shape", "latent", "none")


@pytest.mark.parametrize(("device", "counted"), [("cuda", [0]), ("host", [0, 1])])
def test_the_headline_is_what_was_witnessed_at_the_devices_scope(
    tmp_path: Path, device: str, counted: list[int]
) -> None:
    rows = [[0, 0], [0, 0], [0, 1], [0, 0], [0, 0]]
    changes = {f"{P}:m{j}": {"witness": word} for j, word in enumerate(WITNESSES)}
    matrix = tiny_matrix(tmp_path / "m", {P: rows}, mutants=changes, device=device)
    table = kill_table(matrix, P, FIXED)
    mask = denominator_mask(matrix, table)
    assert mask.nonzero()[0].tolist() == counted
    either = denominator_mask(matrix, table, Denominator.WITNESSED_OR_KILLED)
    assert either.nonzero()[0].tolist() == [*counted, 2], "witness inputs are no killers"
    everything = denominator_mask(matrix, table, Denominator.VALID)
    assert everything.tolist() == [True] * 5 + [False] * 4
    scopes = headline_scopes(matrix.meta)
    assert (WitnessScope.PROFILE in scopes) == (device == "host")
    assert summarise(matrix).mutants.witnessed == len(counted)


def test_locked_mutants_are_out_unless_asked_for(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", {P: [[1], [1]]}, mutants={f"{P}:m1": {"locked": True}})
    for which in Denominator:
        assert denominator_mask(matrix, kill_table(matrix, P, FIXED), which).sum() == 1
    opened = kill_table(matrix, P, FIXED, include_locked=True)
    assert denominator_mask(matrix, opened).sum() == 2
