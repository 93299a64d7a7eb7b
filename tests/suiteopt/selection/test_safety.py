from pathlib import Path

import numpy as np
import pytest

from suiteopt.matrix.kill import kill_table
from suiteopt.matrix.oracle import CALIBRATED_SAFETY, calibrated
from suiteopt.selection.safety import SAFETIES, choose_safety, held_out_kinds
from suiteopt.selection.select import select
from suiteopt.selection.settle import HELD_OUT_SAFETY, settle
from tests.suiteopt.builders import tiny_matrix

P, Q = "level1/001", "level1/019"
KILLS = {P: [[1, 0], [0, 1]], Q: [[1, 0], [0, 1]]}
# every control has 1e-7 but these: four times and seven times the others of their problem
ERRORS = {(f"{P}:serial", f"{P}:i0"): 4e-7, (f"{Q}:pairwise", f"{Q}:i1"): 7e-7}


def test_counts_are_those_of_kill_tables_without_the_kind(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", KILLS, control_error=ERRORS)
    for problem in KILLS:
        found = held_out_kinds(matrix, problem, calibrated())
        for kind, trials, rejected in zip(found.kinds, found.trials, found.rejected, strict=True):
            rest = [f"{problem}:{other}" for other in found.kinds if other != kind]
            for safety, count in zip(SAFETIES, rejected, strict=True):
                table = kill_table(matrix, problem, calibrated(safety), controls=rest)
                row = table.controls.index(f"{problem}:{kind}")
                pool = [table.inputs.index(f"{problem}:i{j}") for j in range(2)]
                assert count == table.control_rejections[row, pool].sum()
                assert trials == table.control_ran[row, pool].sum()


def test_the_smallest_safety_with_the_fewest_rejections(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", KILLS, control_error=ERRORS)
    kinds = [held_out_kinds(matrix, problem, calibrated()) for problem in KILLS]
    assert choose_safety(kinds) == 10.0  # 7 is beyond 5
    assert choose_safety(kinds, without_problem=Q) == 5.0
    assert choose_safety(kinds, without_kind="pairwise") == 5.0
    assert choose_safety(kinds, without_problem=Q, without_kind="serial") == 1.0
    assert choose_safety([]) == CALIBRATED_SAFETY


def test_a_cell_that_no_safety_saves_does_not_raise_it(tmp_path: Path) -> None:
    errors = {(f"{P}:{kind}", f"{P}:i0"): 0.0 for kind in ("serial", "chunked")}
    errors[f"{P}:pairwise", f"{P}:i0"] = 1e-3
    matrix = tiny_matrix(tmp_path / "m", {P: KILLS[P]}, control_error=errors, floor=0.0)
    found = held_out_kinds(matrix, P, calibrated())
    assert np.all(found.rejected.sum(axis=0) == 1)
    assert choose_safety([found]) == 1.0


def test_held_out_safety_is_an_oracle_that_can_be_written_again(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", KILLS, control_error=ERRORS)
    question = settle(matrix, HELD_OUT_SAFETY, 1)
    assert question.oracle == calibrated(10.0)
    assert select(matrix, 1, HELD_OUT_SAFETY).oracle == "calibrated"


@pytest.mark.parametrize("safety", [1.0, 30.0])
def test_the_grid_reaches_from_none_to_thirty(safety: float) -> None:
    assert safety in SAFETIES
