"""Cells in pieces say what cells at once say."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from suiteopt.errors import UserError
from suiteopt.matrix import pieces, reading
from suiteopt.matrix.behaviour import behaviours
from suiteopt.matrix.kill import kill_table
from suiteopt.matrix.oracle import calibrated
from suiteopt.matrix.pieces import CellPieces, load_cells
from suiteopt.matrix.schema import Status
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.writer import MatrixWriter
from tests.suiteopt.builders import cell, header, tiny_matrix

P = "level1/001"
ORACLE = calibrated()
ENTRIES = st.sampled_from(
    [
        True,
        False,
        1e-3,
        None,
        Status.CRASH,
        Status.LAUNCH_ERROR,
        Status.CLOSED,
        Status.UNWRITTEN,
        Status.NONFINITE,
    ]
)


@pytest.fixture
def in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "LARGE_CELLS", -1)
    monkeypatch.setattr(reading, "ROWS_AT_ONCE", 3)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    rows=st.lists(st.tuples(*[ENTRIES] * 4), min_size=1, max_size=6),
    other=st.sets(st.integers(0, 3)),
    sizes=st.lists(st.integers(1, 2), min_size=4, max_size=4),
    at_once=st.integers(1, 9),
)
def test_kill_tables_and_behaviours_are_the_same(
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    rows: list[tuple[bool | float | Status | None, ...]],
    other: set[int],
    sizes: list[int],
    at_once: int,
) -> None:
    shapes = {
        f"{P}:i{column}": {"scope": "other" if column in other else "profile", "shape": {"N": size}}
        for column, size in enumerate(sizes)
    }
    path = tmp_path_factory.mktemp("matrix") / "m"
    tiny_matrix(path, {P: rows}, inputs=shapes)
    mutants = [f"{P}:m{row}" for row in range(len(rows))]
    plain = kill_table(Matrix.open(path), P, ORACLE)
    groups = behaviours(Matrix.open(path), P, mutants)
    with monkeypatch.context() as patch:
        patch.setattr(pieces, "LARGE_CELLS", -1)
        patch.setattr(reading, "ROWS_AT_ONCE", at_once)
        found = kill_table(Matrix.open(path), P, ORACLE)
        assert behaviours(Matrix.open(path), P, mutants).tolist() == groups.tolist()
    assert (found.implementations, found.inputs) == (plain.implementations, plain.inputs)
    for name in ("kills", "ran", "slack"):
        ours, theirs = getattr(found, name), getattr(plain, name)
        assert np.array_equal(ours.toarray(), theirs.toarray()), name
        assert ours.nnz == theirs.nnz
    for name in ("tolerances", "choosable", "control_rejections", "control_ran"):
        assert np.array_equal(getattr(found, name), getattr(plain, name)), name


def test_a_large_problem_comes_in_pieces(tmp_path: Path, in_pieces: None) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    cells = load_cells(matrix, P, ORACLE)
    assert isinstance(cells, CellPieces)
    sizes = [len(block.rows) for block in cells]
    assert max(sizes) == 3
    assert sum(sizes) == len(matrix.cells(P)) == sum(len(block.rows) for block in cells)


def test_cells_out_of_order_are_read_at_once(tmp_path: Path, in_pieces: None) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    plain = kill_table(matrix, P, ORACLE)
    table = matrix.cells_table(P)
    backwards = table.take(np.arange(table.num_rows)[::-1])
    matrix.cells_parts = lambda *_: iter([backwards])  # type: ignore[method-assign]
    matrix.cells_table = lambda *_: backwards  # type: ignore[method-assign]
    assert isinstance(load_cells(matrix, P, ORACLE), tuple)
    assert np.array_equal(kill_table(matrix, P, ORACLE).kills.toarray(), plain.kills.toarray())


@pytest.mark.usefixtures("in_pieces")
def test_a_damaged_file_and_a_missing_column_are_told(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    with pytest.raises(UserError, match="has no column 'nothing'"):
        list(matrix.cells_parts(P, ["nothing"]))
    file = tmp_path / "m" / "cells" / "level1-001.parquet"
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    with pytest.raises(UserError, match="its hash differs"):
        list(Matrix.open(tmp_path / "m").cells_parts(P, ["input"]))
    file.unlink()
    with pytest.raises(UserError, match="is missing"):
        list(Matrix.open(tmp_path / "m").cells_parts(P, ["input"]))


def _write(path: Path, cells: list[pd.DataFrame] | pd.DataFrame) -> Matrix:
    matrix = tiny_matrix(path)
    writer = MatrixWriter(path, header())
    writer.write_cells(P, iter(cells) if isinstance(cells, list) else cells)
    writer.write_cells("level1/019", matrix.cells("level1/019"))
    writer.finish(True)
    return Matrix.open(path)


def _rows(*mutants: int) -> pd.DataFrame:
    return pd.DataFrame(
        [cell(f"{P}:m{m}", f"{P}:i{i}", bool((m + i) % 2)) for m in mutants for i in range(4)]
    )


def test_cells_written_in_parts_are_the_cells_written_at_once(tmp_path: Path) -> None:
    whole = _write(tmp_path / "whole", _rows(0, 1, 2, 3, 4))
    parts = _write(tmp_path / "parts", [_rows(1, 0), _rows(), _rows(2), _rows(4, 3)])
    assert parts.cells_table(P).to_pylist() == whole.cells_table(P).to_pylist()


def test_parts_out_of_order_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="order of their implementations"):
        _write(tmp_path / "m", [_rows(0, 1), _rows(1)])
