"""Rivals' covers are checked against the instance, not by what a solver says of itself."""

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from experiments.cover_rivals import cover, read_orlib, uncovered, uniform
from experiments.memory import peak_mib


def test_uncovered_counts_rows_that_no_chosen_column_kills() -> None:
    matrix = csr_array(np.array([[1, 0, 0], [0, 1, 1], [0, 0, 1]], dtype=np.bool_))
    assert uncovered(matrix, []) == 3
    assert uncovered(matrix, [1]) == 2
    assert uncovered(matrix, [0, 1]) == 1
    assert uncovered(matrix, [0, 2]) == 0


def test_an_instance_is_read_by_row_and_by_column(tmp_path: Path) -> None:
    by_row = tmp_path / "scp.txt"
    by_row.write_text("2 3\n5 6 7\n2\n1 3\n1\n2\n")
    by_column = tmp_path / "rail.txt"
    by_column.write_text("2 3\n5 1 1\n6 1 2\n7 1 1\n")
    for path in (by_row, by_column):
        matrix, costs = read_orlib(path)
        assert matrix.toarray().tolist() == [[True, False, True], [False, True, False]]
        assert costs.tolist() == [5, 6, 7]


@pytest.mark.parametrize("seed", range(4))
def test_set_cover_leaves_nothing_open_where_its_local_search_does(seed: int) -> None:
    # Dense rows and unlike costs: guided local search walks through states that cover too little.
    random = np.random.default_rng(seed)
    matrix = csr_array(random.random((120, 400)) < 0.1)
    costs = np.sort(random.integers(1, 100, 400))
    taken, _ = cover("ortools.set_cover", matrix, costs, 0.2)
    assert uncovered(matrix, taken) == 0


def test_rows_of_a_uniform_instance_have_no_repeated_column() -> None:
    matrix = uniform(50, 30, 10)
    assert matrix.shape == (50, 30)
    assert matrix.toarray().sum() == matrix.nnz


def test_the_peak_is_at_least_what_was_just_held() -> None:
    held = np.ones(50 * 2**20, dtype=np.uint8)
    assert peak_mib() > held.nbytes / 2**20
